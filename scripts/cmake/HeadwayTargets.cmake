# Settings that every target of ours shares.
add_library(headway_settings INTERFACE)
target_include_directories(headway_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(headway_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers>
  # A false alarm of g++ 12 on "literal" + std::string (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>,$<COMPILE_LANGUAGE:CXX>>:-Wno-restrict>
  # g++ looks for garbage each time that its memory has doubled, a sixth of its time: not before it
  # has three quarters of a gibibyte.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:--param=ggc-min-heapsize=786432>
  $<$<AND:$<BOOL:${HEADWAY_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
if(HEADWAY_SANITIZE)
  target_compile_options(headway_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(headway_settings INTERFACE -fsanitize=address,undefined)
endif()
if(HEADWAY_COVERAGE)
  # Processes that end at once write what they counted before (sim/base/child_process.cpp).
  target_compile_definitions(headway_settings INTERFACE HEADWAY_COVERAGE)
  target_compile_options(headway_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--coverage>)
  target_link_options(headway_settings INTERFACE --coverage)
endif()
if(HEADWAY_FUZZ)
  target_compile_options(headway_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()

if(HEADWAY_UNITY)
  # All sources of a target are compiled as one: what they include takes longer to read than they do.
  # So what stands in their anonymous namespaces has names of its own within the target.
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
endif()

# headway_reaches(FILE HEADER RESULT): whether the file includes the header, itself or through others.
function(headway_reaches file header result)
  set(property headway_${file}_reaches_${header})
  get_property(is_known GLOBAL PROPERTY ${property} SET)
  if(NOT is_known)
    set_property(GLOBAL PROPERTY ${property} FALSE)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${file} included REGEX "^#include \"(sim|calibrate|reports)/")
    list(TRANSFORM included REPLACE "^#include \"(.*)\".*" "\\1")
    foreach(next IN LISTS included)
      headway_reaches(${next} ${header} reaches)
      if(reaches OR next STREQUAL header)
        set_property(GLOBAL PROPERTY ${property} TRUE)
        break()
      endif()
    endforeach()
  endif()
  get_property(reaches GLOBAL PROPERTY ${property})
  set(${result} ${reaches} PARENT_SCOPE)
endfunction()

# headway_apart(HEADER ROOMS...): what reaches a header that changes often is compiled apart from the
# rest of its room, which then is not compiled again.
function(headway_apart header)
  foreach(room IN LISTS ARGN)
    get_target_property(sources headway_${room} SOURCES)
    foreach(source IN LISTS sources)
      file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${source})
      headway_reaches(${file} ${header} reaches)
      if(reaches)
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP inside)
      else()
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP outside)
      endif()
    endforeach()
    set_target_properties(headway_${room} PROPERTIES UNITY_BUILD_MODE GROUP)
  endforeach()
endfunction()

# headway_loadable(TARGET): the library may become part of a module that Python loads. Calls within
# it stay direct calls.
function(headway_loadable target)
  if(HEADWAY_WITH_PYTHON)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  endif()
endfunction()

# headway_inner_loop(TARGETS...): what these do is done for every event of a simulation.
function(headway_inner_loop)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O3>)
  endforeach()
endfunction()

# headway_runs_once(TARGETS...): what these do is done once a command and never in the inner loop of a
# simulation or a search: compiled with fewer optimisations, which saves a third of their time.
function(headway_runs_once)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endforeach()
endfunction()

# headway_only_words(TARGETS...): these turn words into words, and what they take is nothing beside what
# they ask others for: compiled with the fewest optimisations that keep it so, a fifth less time than
# the ones above.
function(headway_only_words)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE
      $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
  endforeach()
endfunction()

# headway_library(NAME DEPENDS...): the library headway_NAME of all .cpp files in this folder.
function(headway_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(headway_${name} STATIC ${sources})
  target_link_libraries(headway_${name} PUBLIC headway_settings ${ARGN})
  headway_loadable(headway_${name})
endfunction()

# headway_room(NAME DEPENDS...): the library headway_NAME of all .cpp files in the folder NAME and
# the folders in it.
function(headway_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(headway_${name} STATIC ${sources})
  target_link_libraries(headway_${name} PUBLIC headway_settings ${ARGN})
  headway_loadable(headway_${name})
endfunction()

# Tests of folders that set HEADWAY_TEST_PROPERTIES have these too.
function(headway_test_program name sources)
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE ${ARGN} headway_test_support GTest::gmock_main)
  target_precompile_headers(${name}_test REUSE_FROM headway_test_support)
  # Half the time of tests that read or write JSON.
  target_link_options(${name}_test PRIVATE $<TARGET_OBJECTS:headway_test_json>)
  add_dependencies(${name}_test headway_test_json)
  # A program of CUDA's libraries, of hundreds of megabytes, may take more than the five seconds that
  # CMake gives it to be read from a busy disk.
  gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                       DISCOVERY_TIMEOUT 120
                       PROPERTIES TIMEOUT 600 ${HEADWAY_TEST_PROPERTIES})
endfunction()

# headway_tests(NAME LIBRARIES...): the program NAME_test of all *_test.cpp files in this folder.
function(headway_tests name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  headway_test_program(${name} "${sources}" ${ARGN})
endfunction()

# headway_room_tests(NAME LIBRARIES...): the same, of the folder NAME and the folders in it.
function(headway_room_tests name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cpp)
  headway_test_program(${name} "${sources}" ${ARGN})
endfunction()

"""The module as it comes out of its wheel. Run with the folder that the wheel was unpacked into, the
program `headway` to compare with, and the source tree."""

import importlib.util
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

INSTALLED, PROGRAM, SOURCE = (sys.argv.pop(1) for _ in range(3))
sys.path.insert(0, INSTALLED)
os.environ.pop("HEADWAY_DATA_DIR", None)
os.chdir(tempfile.mkdtemp())  # nothing that ships is in sight from here

import headway  # noqa: E402

JOB = "llama3_8b_64"


def by_command(*words):
    environment = dict(os.environ, HEADWAY_DATA_DIR=str(pathlib.Path(INSTALLED) / "headway/data"))
    outcome = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=environment)
    return outcome.stdout, outcome.stderr


def without_command_line(document):
    document["provenance"].pop("command_line")
    return document


class Wheel(unittest.TestCase):
    def test_is_what_was_imported(self):
        self.assertEqual(pathlib.Path(headway.__file__).parent, pathlib.Path(INSTALLED) / "headway")

    def test_carries_all_data_that_ships(self):
        data = pathlib.Path(INSTALLED) / "headway" / "data"
        for folder in ("scenarios", "topologies", "calibrate/profiles"):
            shipped = {path.relative_to(SOURCE): path.read_bytes()
                       for path in (pathlib.Path(SOURCE) / folder).rglob("*")
                       if path.suffix in (".json", ".csv")}
            carried = {path.relative_to(data): path.read_bytes()
                       for path in (data / folder).rglob("*") if path.is_file()}
            self.assertGreater(len(shipped), 5)
            self.assertEqual(shipped, carried)


class Loading(unittest.TestCase):
    def test_takes_names_files_and_dicts(self):
        by_name = headway.load(JOB).resolved
        path = pathlib.Path(SOURCE) / "scenarios" / f"{JOB}.json"
        self.assertEqual(headway.load(path).resolved, by_name)
        self.assertEqual(headway.load(json.loads(path.read_text())).resolved, by_name)

    def test_changes_by_pointer_and_leaves_the_first_alone(self):
        first = headway.load(JOB)
        second = first.set("/strategy/micro_batch", 2).set("/model/layers", 16)
        self.assertEqual(second["/strategy/micro_batch"], 2)
        self.assertEqual(second["/model/layers"], 16)
        self.assertEqual(first["/strategy/micro_batch"], 1)
        self.assertEqual(first["/model/layers"], 32)
        with self.assertRaises(KeyError):
            first["/strategy/no_such_field"]

    def test_finds_what_a_dict_names_from_the_working_directory(self):
        model = headway.load(JOB)["/model"]
        pathlib.Path("of_mine.json").write_text(json.dumps(model))
        given = json.loads((pathlib.Path(SOURCE) / "scenarios" / f"{JOB}.json").read_text())
        given["model"] = "of_mine.json"
        self.assertEqual(headway.load(given)["/model"], model)


class Simulating(unittest.TestCase):
    def test_gives_the_document_of_the_command(self):
        job = headway.load(JOB).set("/run/replicas", 2)
        document, _ = by_command("simulate", JOB, "--set", "/run/replicas=2", "--json")
        self.assertEqual(headway.simulate(job), json.loads(document))

    def test_gives_the_same_for_a_dict(self):
        given = json.loads((pathlib.Path(SOURCE) / "scenarios" / f"{JOB}.json").read_text())
        by_name = headway.simulate(JOB)
        by_dict = headway.simulate(given)
        for part in ("iteration_time_s", "breakdown_s", "memory_bytes", "scenario"):
            self.assertEqual(by_dict[part], by_name[part])
        self.assertIn("<scenario>", by_dict["provenance"]["command_line"])

    def test_answers_that_a_job_does_not_fit(self):
        job = headway.load(JOB).set("/strategy/micro_batch", 16).set("/strategy/zero_stage", 0)
        answer = headway.simulate(job.set("/model/sequence_length", 131072))
        self.assertFalse(answer["memory_bytes"]["fits"])

    def test_goes_on_in_several_threads(self):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(headway.simulate(JOB, jobs=1)))
                   for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), 3)
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])


class Failing(unittest.TestCase):
    def test_says_what_the_command_says(self):
        for words in (("/strategy/tensor_parallel", 7), ("/strategy/tensor_paralel", 2),
                      ("strategy.tensor_parallel", 2)):
            with self.assertRaises(headway.InputError) as caught:
                headway.simulate(headway.Scenario(JOB).set(*words))
            _, said = by_command("simulate", JOB, "--set", "{}={}".format(*words))
            text = str(caught.exception)
            # The last line differs: nothing was "done" here, "simulated" there.
            self.assertEqual(text.rstrip().splitlines()[:-1], said.rstrip().splitlines()[:-1])

    def test_has_place_reason_and_remedy_of_every_problem(self):
        given = json.loads((pathlib.Path(SOURCE) / "scenarios" / f"{JOB}.json").read_text())
        given["strategy"]["zero_stag"] = 1
        given["strategy"]["micro_batch"] = -1
        with self.assertRaises(headway.InputError) as caught:
            headway.load(given)
        found = {problem["pointer"]: problem for problem in caught.exception.diagnostics}
        self.assertEqual(found["/strategy/zero_stag"]["file"], "<scenario>")
        self.assertEqual(found["/strategy/zero_stag"]["message"], 'unknown field "zero_stag"')
        self.assertIn("zero_stage", found["/strategy/zero_stag"]["help"])
        self.assertIn("/strategy/micro_batch", found)
        line = found["/strategy/micro_batch"]["line"]
        self.assertIn("micro_batch", json.dumps(given, indent=2).splitlines()[line - 1])
        self.assertIsInstance(caught.exception, ValueError)
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(again.diagnostics, caught.exception.diagnostics)

    def test_refuses_what_is_no_scenario(self):
        for given in ("no_such_scenario", "-", b"\xff\xfe", {}, {"schema": "headway/scenario/1"}):
            with self.assertRaises(headway.InputError):
                headway.load(given)
        for given in (None, 3, {"a": float("nan")}, {"a": object()}):
            with self.assertRaises((TypeError, ValueError, AttributeError)):
                headway.load(given)
        for wrong in ({"jobs": 0}, {"reference": 0}):
            with self.assertRaises(headway.InputError):
                headway.simulate(JOB, **wrong)

    def test_leaves_nothing_behind(self):
        with self.assertRaises(headway.InputError):
            headway.load({})
        self.assertGreater(headway.simulate(JOB)["iteration_time_s"], 0)


class Sweeping(unittest.TestCase):
    def test_gives_columns_of_equal_length(self):
        columns = headway.sweep(JOB, {"gpus": [32, 64], "micro_batch": "1,2,3"})
        self.assertEqual(columns["gpus"], [32, 32, 32, 64, 64, 64])
        self.assertEqual(columns["micro_batch"], [1, 2, 3, 1, 2, 3])
        self.assertEqual({len(column) for column in columns.values()}, {6})
        answer = headway.simulate(headway.load(JOB))
        place = 3  # 64 GPUs, micro-batch 1: the scenario as it ships
        self.assertEqual(columns["status"][place], "done")
        self.assertEqual(columns["iteration_time_s"][place], answer["iteration_time_s"])
        self.assertEqual(columns["mfu"][place], answer["mfu"])
        for status, reason, time in zip(columns["status"], columns["reason"],
                                        columns["iteration_time_s"]):
            self.assertEqual(status == "done", reason == "")
            self.assertEqual(status == "done", time is not None)
        self.assertIn("refused", columns["status"])  # three do not divide the batch

    def test_keeps_points_in_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            headway.sweep(JOB, {"micro_batch": [1]}, folder=folder)
            columns = headway.sweep(JOB, {"micro_batch": [1, 2]}, folder=folder)
            self.assertEqual(columns["micro_batch"], [1, 2])
            self.assertTrue((pathlib.Path(folder) / "sweep.db").is_file())

    def test_ends_with_ctrl_c_and_keeps_what_was_done(self):
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "sweep.db"

            def interrupt():
                while not store.is_file():
                    pass
                os.kill(os.getpid(), signal.SIGINT)

            thread = threading.Thread(target=interrupt, daemon=True)
            thread.start()
            with self.assertRaises(KeyboardInterrupt):
                headway.sweep(JOB, {"/run/seed": "1..100000+1"}, folder=folder, jobs=1)
        self.assertGreater(headway.simulate(JOB)["iteration_time_s"], 0)

    def test_refuses_axes_that_are_none(self):
        for axes in ({}, {"no_such_axis": [1]}, {"gpus": []}, {"gpus": [7]}):
            with self.assertRaises(headway.InputError):
                headway.sweep(JOB, axes)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_makes_a_data_frame(self):
        frame = headway.sweep(JOB, {"micro_batch": [1, 2]}).to_pandas()
        self.assertEqual(list(frame["micro_batch"]), [1, 2])
        self.assertEqual(frame.shape[0], 2)


class Planning(unittest.TestCase):
    def test_gives_the_document_of_the_command(self):
        keep = ["tensor_parallel", "context_parallel", "pipeline_parallel"]
        answer = headway.plan(JOB, keep=keep, best=1)
        document, _ = by_command("plan", JOB, "--best", "1", "--json",
                                 *(word for field in keep for word in ("--keep", field)))
        self.assertEqual(answer, json.loads(document))

    def test_refuses_goals_and_fields_that_are_none(self):
        with self.assertRaises(headway.InputError):
            headway.plan(JOB, "tokens=many")
        with self.assertRaises(headway.InputError):
            headway.plan(JOB, keep=["hidden"])
        with self.assertRaisesRegex(headway.InputError, "it is one of megatron-lm"):
            headway.plan(JOB, framework="megatron")

    def test_plans_for_a_framework_as_the_command_does(self):
        answer = headway.plan(JOB, framework="torchtitan", best=1)
        document, _ = by_command("plan", JOB, "--best", "1", "--json",
                                 "--framework", "torchtitan")
        self.assertEqual(answer, json.loads(document))


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()

#pragma once

namespace headway {

/// A step of two replicas of two stages and one micro-batch. Everything is alike but the forward
/// pass of stage 1 on replica 1, which takes 2 s instead of 1 s. A backward pass takes 2 s, a
/// transfer 0.1 s, a reduction 0.5 s, the optimizer 0.2 s; the optimizer of stage 0 starts 0.1 s
/// later than it could. By hand, stage 0:
///
///   replica 0: F 0 .. 1, B 4.2 .. 6.2; replica 1: F 0 .. 1, B 5.2 .. 7.2
///   both reduce 7.2 .. 7.7 and step 7.8 .. 8.0
inline constexpr const char* kTinyTrace =
    "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n"
    "0,0,0,7,forward-compute,0,1,0,0,0,0\n"
    "0,0,0,7,forward-send,1,0.1,0,-1,0,-1\n"
    "0,0,0,7,backward-recv,1.1,3.1,0,-1,0,-1\n"
    "0,0,0,7,backward-compute,4.2,2,0,0,0,0\n"
    "0,0,0,7,grads-reduce-scatter,6.2,1.5,0,0,0,-1\n"
    "0,0,0,7,optimizer,7.8,0.2,0,-1,0,-1\n"
    "0,1,1,7,forward-recv,0,1.1,0,-1,0,-1\n"
    "0,1,1,7,forward-compute,1.1,1,0,0,0,1\n"
    "0,1,1,7,backward-compute,2.1,2,0,0,0,1\n"
    "0,1,1,7,backward-send,4.1,0.1,0,-1,0,-1\n"
    "0,1,1,7,grads-reduce-scatter,4.1,1.5,0,0,0,-1\n"
    "0,1,1,7,optimizer,5.6,0.2,0,-1,0,-1\n"
    "1,0,2,7,forward-compute,0,1,0,0,0,0\n"
    "1,0,2,7,forward-send,1,0.1,0,-1,0,-1\n"
    "1,0,2,7,backward-recv,1.1,4.1,0,-1,0,-1\n"
    "1,0,2,7,backward-compute,5.2,2,0,0,0,0\n"
    "1,0,2,7,grads-reduce-scatter,7.2,0.5,0,0,0,-1\n"
    "1,0,2,7,optimizer,7.8,0.2,0,-1,0,-1\n"
    "1,1,3,7,forward-recv,0,1.1,0,-1,0,-1\n"
    "1,1,3,7,forward-compute,1.1,2,0,0,0,1\n"
    "1,1,3,7,backward-compute,3.1,2,0,0,0,1\n"
    "1,1,3,7,backward-send,5.1,0.1,0,-1,0,-1\n"
    "1,1,3,7,grads-reduce-scatter,5.1,0.5,0,0,0,-1\n"
    "1,1,3,7,optimizer,5.6,0.2,0,-1,0,-1\n";

}  // namespace headway

#!/usr/bin/env bash
accelerate launch --num_machines 1 --num_processes 8 --mixed_precision bf16 sft.py \
  --model_name_or_path openai-community/gpt2-xl \
  --per_device_train_batch_size 4 --gradient_accumulation_steps 2 --max_length 1024 \
  --learning_rate 2e-5 --packing

/* Stands in for a header of the same name that Ollama's module lacks, as module archives leave out every folder called vendor.
   Models that listen are not tested here, so nothing is decoded: what is called to begin with that fails. */
#pragma once
#include <stddef.h>

typedef int ma_result;
typedef unsigned long long ma_uint64;
typedef struct { int unused; } ma_decoder_config;
typedef struct { int unused; } ma_decoder;

enum { MA_SUCCESS = 0, MA_NOT_BUILT = -1 };
enum { ma_format_f32 = 5 };

static inline ma_decoder_config ma_decoder_config_init(int, unsigned, unsigned) { return ma_decoder_config{0}; }
static inline ma_result ma_decoder_init_memory(const void *, size_t, const ma_decoder_config *, ma_decoder *) { return MA_NOT_BUILT; }
static inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *, ma_uint64 *) { return MA_NOT_BUILT; }
static inline ma_result ma_decoder_read_pcm_frames(ma_decoder *, void *, ma_uint64, ma_uint64 *) { return MA_NOT_BUILT; }
static inline ma_result ma_decoder_uninit(ma_decoder *) { return MA_SUCCESS; }

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** For whoever answers; undefined on a machine of one core, or without `taskset`: nothing is bound then. */
export const SERVER_CORE = canPin ? 0 : undefined
/** For whoever asks. */
export const CLIENT_CORE = canPin ? 1 : undefined

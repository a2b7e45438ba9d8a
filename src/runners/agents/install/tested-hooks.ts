import * as z from 'zod'
import { createRecords, type Records } from './record-file.ts'
import { TRIAL_LEVELS } from './trial.ts'

/** What `casefile agent test` saw, and of what. */
const TESTED = z.object({
  level: z.enum(TRIAL_LEVELS),
  reason: z.string(),
  tested_at: z.string(),
  /** Of the hooks in the settings, and of the script that they run. */
  hooks_sha256: z.string(),
  script_sha256: z.string(),
  /** The agent's program as its file was, and its version; null if it was not found. */
  program: z.string().nullable(),
  version: z.string().nullable(),
})
export type TestedHooks = z.infer<typeof TESTED>

/** The last test of each settings file of this machine. */
export function createTestedHooks(stateDir: string): Records<TestedHooks> {
  return createRecords(stateDir, 'tested.json', TESTED)
}

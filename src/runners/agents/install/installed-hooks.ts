import * as z from 'zod'
import { createRecords, type Records } from './record-file.ts'

/** What Casefile made when it installed hooks. */
const INSTALLED = z.object({
  /** The file did not exist. */
  is_new: z.boolean(),
  /** Nor did its folder. */
  is_folder_new: z.boolean(),
  hooks_sha256: z.string(),
})
export type InstalledFile = z.infer<typeof INSTALLED>

/** By real path of the settings file. */
export type InstalledHooks = Records<InstalledFile>

/** If it is lost, an empty file that was new stays. */
export function createInstalledHooks(stateDir: string): InstalledHooks {
  return createRecords(stateDir, 'installed.json', INSTALLED)
}

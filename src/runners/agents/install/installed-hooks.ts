import * as z from 'zod'
import { createRecords, type Records } from './record-file.ts'

/** What Casefile changed in a settings file, so that it can restore every byte. */
const INSTALLED = z.object({
  /** The file did not exist. */
  is_new: z.boolean(),
  /** Nor did its folder. */
  is_folder_new: z.boolean(),
  /** The text at `offset`, now `length` characters, was `original`. */
  offset: z.number(),
  original: z.string(),
  length: z.number(),
  /** Of the whole text after the change, and of the hooks in it. */
  sha256: z.string(),
  hooks_sha256: z.string(),
})
export type InstalledFile = z.infer<typeof INSTALLED>

/** The changes of this machine's settings files, by real path. */
export type InstalledHooks = Records<InstalledFile>

/** If it is lost, the hooks are found by their lines. */
export function createInstalledHooks(stateDir: string): InstalledHooks {
  return createRecords(stateDir, 'installed.json', INSTALLED)
}

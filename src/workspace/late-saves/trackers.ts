import type { ReplacedFileTracker } from '../../files/replace-seen.ts'

/** One file of a case, by its path relative to the case's folder. */
export interface FileOfCase {
  id: string
  file: string
}

/** Creates a tracker for each write that replaces a file of a case. `base` is the content that is replaced. */
export interface ReplacedFileTrackers {
  trackerFor(file: FileOfCase, base: Buffer): ReplacedFileTracker
}

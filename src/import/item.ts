import type { YamlValue } from '../markdown/yaml-scalar.ts'
import type { Case } from '../model/case.ts'
import type { EntryErrors } from './entry-errors.ts'

/** A task of another tool, in the form that all importers share. */
export interface ImportedItem {
  /** How messages refer to it, such as `entry 3 (#12)` or `line 4 (bd-a1b2)`. */
  entry: string
  /** Short, such as `ada/shop#12` or `bd-a1b2`. */
  name: string
  /** The value of the case's field `source`. */
  source: string
  /** The id of the case is derived from it. The same task has the same origin in every clone and every import. */
  origin: string
  title: string | null
  type: string | null
  /** Labels as they are; `tagsOf` makes tags from them. */
  labels: readonly string[]
  created_at: string | null
  ending: Ending
  /** The origin of the task that it belongs to. */
  parent: string | null
  description: string
  /** One line of text each; they become checklist items. */
  criteria: readonly string[]
  notes: Notes
}

export type Ending = Pick<Case, 'state' | 'outcome' | 'reason'>

/** What no field of a case takes. */
export interface Notes {
  /** The frontmatter; empty values are left out. */
  fields: readonly [string, YamlValue | undefined][]
  sections: readonly NoteSection[]
  /** Fields that the importer does not know. */
  unknown: Readonly<Record<string, unknown>>
}

export interface NoteSection {
  heading: string
  /** Paragraphs of markdown; text of the tool is quoted. */
  parts: readonly string[]
}

export interface InputFile {
  /** Relative to the named folder; the name itself if a file was named. */
  path: string
  bytes: Uint8Array
}

export interface ReadOptions {
  /** The repository of GitHub issues without a URL. */
  repository?: string | undefined
  /** Distinguishes tasks of several projects that have the same ids. */
  project?: string | undefined
}

export interface Importer {
  id: string
  /** `on GitHub`, `in Backlog.md` */
  where: string
  /** The memory file for everything that a case has no field for. */
  notesFile: string
  /** What it reads, for messages. */
  expected: string
  /** Whether a file is of this tool. */
  matches(file: InputFile): boolean
  read(files: readonly InputFile[], options: ReadOptions): ReadResult
}

export interface ReadResult {
  items: readonly ImportedItem[]
  /** Sentences about what is in the list but is not imported. */
  warnings: readonly string[]
  /** The wrong entries, for `planImport` to throw together with those that it finds. */
  errors: EntryErrors
}

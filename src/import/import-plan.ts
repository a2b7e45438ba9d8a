import { MAX_CASE_BYTES, newCaseText, readCase } from '../markdown/case-file.ts'
import type { FieldError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { MAX_MEMORY_BYTES } from '../workspace/memory-files.ts'
import { convertIssue } from './case-of-issue.ts'
import { type Entry, throwIfInvalid } from './issue-list.ts'
import { issueNotes, NOTES_FILE } from './issue-notes.ts'
import { type Source, sourceOf } from './source.ts'

/** A case to create, with the contents of its files. */
export interface PlannedCase {
  id: string
  value: Case
  source: Source
  /** How messages refer to the issue. */
  name: string
  caseText: string
  notes: string
}

export interface PlanOptions {
  /** The repository of issues without a URL. */
  repository?: string | undefined
  /** The type of all cases; overrides labels. */
  type?: string | undefined
  now: string
}

/** Prepares all files of all issues without writing any. Throws if one of them could not be written. */
export async function planImport(
  entries: readonly Entry[],
  options: PlanOptions,
): Promise<PlannedCase[]> {
  const planned = new Map<string, PlannedCase>()
  const errors: FieldError[] = []
  for (const entry of entries) {
    const source = sourceOf(entry.issue, options.repository)
    if (source === null) {
      errors.push({ path: entry.name, message: noSource(entry) })
      continue
    }
    const created = await planCase(entry, source, options)
    const before = planned.get(created.id)
    const error = before ? duplicateError(before, created) : await findError(created)
    if (error !== null) errors.push({ path: entry.name, message: error })
    else if (!before) planned.set(created.id, created)
  }
  throwIfInvalid(errors)
  return [...planned.values()]
}

async function planCase(
  { issue, name }: Entry,
  source: Source,
  options: PlanOptions,
): Promise<PlannedCase> {
  const fullCase = convertIssue(issue, source, options)
  const fullText = await newCaseText(fullCase)
  const fits = Buffer.byteLength(fullText) <= MAX_CASE_BYTES
  const value = fits
    ? fullCase
    : { ...fullCase, description: `The text is too long for this file: see ${NOTES_FILE}.` }
  return {
    id: value.id,
    value,
    source,
    name,
    caseText: fits ? fullText : await newCaseText(value),
    notes: issueNotes(issue, source, fits ? null : fullCase.description),
  }
}

/** Why it is unknown which issue an entry is. */
function noSource({ issue }: Entry): string {
  if (issue.url) {
    return `url: expected the address of an issue, such as https://github.com/ada/shop/issues/12; got ${JSON.stringify(issue.url.slice(0, 200))}`
  }
  if (!issue.number) return 'it has neither url nor number: add both fields to gh issue list --json'
  return 'it has no url: add url to gh issue list --json, or use --repo owner/name'
}

/** Null if both are the same in every byte: then the second is skipped. */
function duplicateError(one: PlannedCase, other: PlannedCase): string | null {
  const isSame = one.caseText === other.caseText && one.notes === other.notes
  return isSame ? null : `it is the same issue as ${one.name}, with different content`
}

/** Why the files of the case could not be written; null if they can. */
async function findError({ id, value, caseText, notes }: PlannedCase): Promise<string | null> {
  const size = Buffer.byteLength(notes)
  if (size > MAX_MEMORY_BYTES) {
    return `its text and comments are ${size} bytes; the limit of a memory file is ${MAX_MEMORY_BYTES}`
  }
  const { problems } = await readCase(caseText, { id, created_at: value.created_at })
  return problems.length > 0 ? problems[0]!.message : null
}

import { MAX_CASE_BYTES, newCaseText, readCase } from '../markdown/case-file.ts'
import type { FieldError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { MAX_MEMORY_BYTES } from '../workspace/memory-files.ts'
import { caseOfIssue } from './case-of-issue.ts'
import { type Entry, mustBeRight } from './issue-list.ts'
import { issueNotes, NOTES_FILE } from './issue-notes.ts'
import { type Source, sourceOf } from './source.ts'

/** A case that is to be made, as its files. */
export interface PlannedCase {
  id: string
  value: Case
  source: Source
  /** As a message names the issue. */
  name: string
  caseText: string
  notes: string
}

export interface PlanOptions {
  /** Of issues that do not say their address. */
  repository?: string | undefined
  /** Of all cases, in place of what the labels say. */
  type?: string | undefined
  now: string
}

/** Makes all files of all issues, and writes none. Refuses where one of them could not be written. */
export async function planImport(
  entries: readonly Entry[],
  options: PlanOptions,
): Promise<PlannedCase[]> {
  const planned = new Map<string, PlannedCase>()
  const wrong: FieldError[] = []
  for (const entry of entries) {
    const source = sourceOf(entry.issue, options.repository)
    if (source === null) {
      wrong.push({ path: entry.name, message: noSource(entry) })
      continue
    }
    const made = await plannedCase(entry, source, options)
    const before = planned.get(made.id)
    const complaint = before ? complaintOfTwins(before, made) : await complaintOf(made)
    if (complaint !== null) wrong.push({ path: entry.name, message: complaint })
    else if (!before) planned.set(made.id, made)
  }
  mustBeRight(wrong)
  return [...planned.values()]
}

async function plannedCase(
  { issue, name }: Entry,
  source: Source,
  options: PlanOptions,
): Promise<PlannedCase> {
  const whole = caseOfIssue(issue, source, options)
  const wholeText = await newCaseText(whole)
  const fits = Buffer.byteLength(wholeText) <= MAX_CASE_BYTES
  const value = fits
    ? whole
    : { ...whole, description: `The text is in ${NOTES_FILE}: it is long.` }
  return {
    id: value.id,
    value,
    source,
    name,
    caseText: fits ? wholeText : await newCaseText(value),
    notes: issueNotes(issue, source, fits ? null : whole.description),
  }
}

function noSource({ issue }: Entry): string {
  if (issue.url) {
    return `url: expected the address of an issue, such as https://github.com/ada/shop/issues/12; got ${JSON.stringify(issue.url.slice(0, 200))}`
  }
  if (!issue.number) return 'it has neither url nor number: name both behind gh issue list --json'
  return 'it has no url: name url behind gh issue list --json, or give --repo owner/name'
}

function complaintOfTwins(one: PlannedCase, other: PlannedCase): string | null {
  const isSame = one.caseText === other.caseText && one.notes === other.notes
  return isSame ? null : `it is the same issue as ${one.name}, and says something else`
}

async function complaintOf({ id, value, caseText, notes }: PlannedCase): Promise<string | null> {
  const size = Buffer.byteLength(notes)
  if (size > MAX_MEMORY_BYTES) {
    return `its text and comments are ${size} bytes; a memory file holds ${MAX_MEMORY_BYTES}`
  }
  const { problems } = await readCase(caseText, { id, created_at: value.created_at })
  return problems.length > 0 ? problems[0]!.message : null
}

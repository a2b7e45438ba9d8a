import { MAX_CASE_BYTES, newCaseText, readCase } from '../markdown/case-file.ts'
import { readItem } from '../markdown/checklist-item.ts'
import { parseRequirement, type Requirement } from '../markdown/requirement-line.ts'
import { AppError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { newCase } from '../model/decide-case.ts'
import { SLUG } from '../model/name-patterns.ts'
import { MAX_MEMORY_BYTES } from '../workspace/memory-files.ts'
import { caseIdFor } from './case-id.ts'
import type { ImportedItem, Importer, ReadResult } from './item.ts'
import { notesText } from './notes.ts'
import { caseTitle, tagsOf } from './text.ts'

/** A case to create, with the contents of its files. */
export interface PlannedCase {
  id: string
  value: Case
  source: string
  /** Short, such as `ada/shop#12`. */
  name: string
  /** How messages refer to the task. */
  entry: string
  /** When the task was created; null if the tool does not say. */
  created_at: string | null
  caseText: string
  notesFile: string
  notes: string
}

export interface PlanOptions {
  /** The type of all cases; overrides the tool's. */
  type?: string | undefined
  now: string
}

/** The type of a task whose tool has no types. */
const TASK = 'task'

/** Prepares all files of all tasks without writing any. Throws if one of them could not be written. */
export async function planImport(
  { items, errors }: Pick<ReadResult, 'items' | 'errors'>,
  importer: Importer,
  options: PlanOptions,
): Promise<PlannedCase[]> {
  const planned = new Map<string, PlannedCase>()
  for (const item of items) {
    const created = await planCase(item, importer, options)
    const before = planned.get(created.id)
    const error = before ? duplicateError(before, created) : await findError(created)
    if (error !== null) errors.add(item.entry, error)
    else if (!before) planned.set(created.id, created)
  }
  errors.throwIfAny()
  return [...planned.values()]
}

async function planCase(
  item: ImportedItem,
  importer: Importer,
  { type, now }: PlanOptions,
): Promise<PlannedCase> {
  const { entry, name, source, criteria, notes } = item
  const fields = {
    title: caseTitle(item.title, name),
    type: type ?? (item.type !== null && SLUG.test(item.type) ? item.type : TASK),
    tags: tagsOf(item.labels),
    source,
    parent: item.parent === null || item.parent === item.origin ? null : caseIdFor(item.parent),
  }
  const id = caseIdFor(item.origin)
  const value: Case = {
    ...newCase(fields, id, item.created_at ?? now),
    ...item.ending,
    description: item.description,
  }
  const full = await withCriteria(value, criteria)
  const fits = Buffer.byteLength(full.text) <= MAX_CASE_BYTES
  const made = fits ? full : await shortened(full.value, value, importer)
  const hasLostChecklist = made.value.checklist.length < full.value.checklist.length
  const text = hasLostChecklist ? withList(value.description, criteria) : full.value.description
  return {
    id,
    value: made.value,
    source,
    name,
    entry,
    created_at: item.created_at,
    caseText: made.text,
    notesFile: importer.notesFile,
    notes: notesText({ ...item, notes }, importer, fits ? null : text),
  }
}

/** Without its text, and only if it is still too large also without its checklist, as `bare` is. */
async function shortened(
  full: Case,
  bare: Case,
  importer: Importer,
): Promise<{ value: Case; text: string }> {
  const description = `The text is too long for this file: see ${importer.notesFile}.`
  const short = { ...full, description }
  const text = await newCaseText(short)
  if (Buffer.byteLength(text) <= MAX_CASE_BYTES) return { value: short, text }
  const shortest = { ...bare, description }
  return { value: shortest, text: await newCaseText(shortest) }
}

/** Longer lists are text: the file is read again for each item that it gets. */
const MAX_ITEMS = 100

/** Criteria become checklist items. If one of them cannot, or if there are too many, all of them end the description. */
async function withCriteria(
  value: Case,
  criteria: readonly string[],
): Promise<{ value: Case; text: string }> {
  const items = criteria.map(requirementOf)
  if (items.length <= MAX_ITEMS && items.every((each) => each !== null)) {
    const checklist = items.map((each) => ({ ...each, checked: false }))
    const text = await tryText({ ...value, checklist })
    if (text !== null) return { value: { ...value, checklist }, text }
  }
  const description = withList(value.description, criteria)
  return { value: { ...value, description }, text: await newCaseText({ ...value, description }) }
}

function withList(description: string, criteria: readonly string[]): string {
  const list = criteria.map((text) => `- ${text}`).join('\n')
  return `${description}\n\n## Acceptance criteria\n\n${list}`.trimStart()
}

/** Required only if the text says so in the exact form. */
function requirementOf(text: string): Requirement | null {
  const read = readItem(text, false)
  const requirement = read.unclear ? null : parseRequirement(text)
  return requirement && { ...requirement, required: read.required }
}

async function tryText(value: Case): Promise<string | null> {
  try {
    return await newCaseText(value)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** Null if both are the same in every byte: then the second is skipped. */
function duplicateError(one: PlannedCase, other: PlannedCase): string | null {
  const isSame = one.caseText === other.caseText && one.notes === other.notes
  if (isSame) return null
  return `it is the same issue as ${one.entry}, with different content. Take one of them out of the list`
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

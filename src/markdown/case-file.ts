import type { Case, CaseEdit } from '../model/case.ts'
import {
  CASE_FIELDS,
  type CaseFieldRow,
  type CaseValues,
  emptyValue,
  FIELD_LIST,
  FILE_KEYS,
  type FrontmatterField,
  type NamedField,
  TEXT_KEYS,
} from '../model/case-fields.ts'
import type { ChecklistItem } from '../model/gate.ts'
import { TITLE_MAX } from '../model/name-patterns.ts'
import { isBreaking, type Problem } from '../model/problem.ts'
import { checklistOf, checklistProblems, countedItems, withItem, withTicks } from './checklist.ts'
import { CHECKLIST_HEADING, type Checklist } from './checklist-parse.ts'
import { findBodyStart, type MarkdownDocument, readDocument } from './document.ts'
import { newFrontmatter, withFields } from './field-edit.ts'
import {
  type FieldReader,
  type FieldsResult,
  fieldReader,
  readFields,
  roughFields,
  utcTime,
} from './fields.ts'
import { hasBareFields } from './intended-frontmatter.ts'
import { linesOf } from './lines.ts'
import { closesFence, headingText, OPENING } from './outline.ts'
import {
  LEAD,
  plainRegion,
  readSections,
  type Sectioned,
  type SectionLayout,
  sectionText,
  withSection,
} from './sections.ts'

export const CASE_FILE = 'case.md'
export const MAX_CASE_BYTES = 256 * 1024

export const CASE_LAYOUT: SectionLayout = {
  names: [CHECKLIST_HEADING],
  bounds(text, bodyStart) {
    const from = bodyStart ?? findBodyStart(text)
    return from === null ? null : { from, to: text.length }
  },
  /** A description from a request must not add required proof. */
  async isContained(after, name) {
    const end = after.ranges[0]!.to
    const checklist = await checklistOf(after)
    return name !== LEAD || (checklist?.strays.every(({ start }) => start >= end) ?? false)
  },
}

/** Default values for a file that a person wrote without some fields. */
interface CaseOrigin {
  id: string
  created_at: string
  /** Whether another case has this id. */
  isTaken?: (id: string) => boolean
}

export interface CaseReading {
  /** Null if the file has breaking problems. */
  value: Case | null
  problems: Problem[]
  /** The values of a file with breaking problems, as far as they can be read: they are shown, but not trusted. */
  shown?: Case
}

/** Reads a case.md. Never throws, whatever the text contains. */
export async function readCase(text: string, origin: CaseOrigin): Promise<CaseReading> {
  const read = readCaseFile(text)
  if (!read.ok) return { value: null, problems: [read.problem] }
  const sections = await readSections(text, CASE_LAYOUT, read.document.bodyStart)
  const checklist = sections && (await checklistOf(sections))
  if (sections && checklist) return caseIn(read.document, sections, checklist, origin)
  const message =
    'the markdown takes more than 2 s to parse: simplify deeply nested lists or quotes'
  return { value: null, problems: [{ code: 'too_complex', file: CASE_FILE, line: null, message }] }
}

/** A case written by a person may have no frontmatter, but fields without their `---` lines are a problem. */
function readCaseFile(text: string): FieldsResult {
  const read = readFields(text, CASE_FILE)
  if (!read.ok || read.document.fields !== null || !hasBareFields(text, read.document.bodyStart))
    return read
  const message =
    'these look like fields: frontmatter is YAML between two lines that contain only ---'
  return {
    ok: false,
    problem: { code: 'bad_frontmatter', file: CASE_FILE, line: 1, message },
  }
}

function caseIn(
  document: MarkdownDocument,
  sections: Sectioned,
  checklist: Checklist,
  origin: CaseOrigin,
): CaseReading {
  const reader = fieldReader(document, CASE_FILE)
  const description = sectionText(sections, LEAD)!
  const stated = reader.text('id')
  if (stated !== null && stated !== origin.id && origin.isTaken?.(stated)) {
    const message = `id: ${stated} belongs to another case: give this copy the id of its folder (${origin.id})`
    reader.problem('id', 'duplicate_id', message)
  } else reader.checkAgainstPath('id', origin.id)
  const value: Case = {
    id: origin.id,
    created_at: reader.time('created_at') ?? origin.created_at,
    ...valuesOf((field) => {
      if (field.kind === 'markdown') return description
      const found = valueIn(reader, field)
      if (found !== null || field.name !== 'title') return found
      return titleOf(document.text.slice(document.bodyStart)) ?? origin.id
    }),
    checklist: countedItems(checklist),
  }
  const problems = [...reader.problems, ...checklistProblems(document.text, CASE_FILE, checklist)]
  return problems.some(isBreaking) ? { value: null, problems, shown: value } : { value, problems }
}

type FieldValue = string | string[] | null

/** Returns the value that `find` gives for each field, else the field's empty value. */
function valuesOf(find: (field: NamedField) => FieldValue): CaseValues {
  const values = FIELD_LIST.map((field) => [field.name, find(field) ?? emptyValue(field)])
  return Object.fromEntries(values) as CaseValues
}

function valueIn(reader: FieldReader, field: NamedField): FieldValue {
  const { name, kind, values, pattern, rule = '', checkedAtStart } = field
  if (TEXT_KEYS.has(name)) reader.reportCuts(name)
  if (kind === 'words') return reader.texts(name)
  if (pattern && !checkedAtStart) return reader.matching(name, pattern, rule)
  const text = kind === 'line' ? oneLine(reader.text(name)) : reader.text(name)
  if (text === null || !values || values.includes(text)) return text
  const code = name === 'state' ? 'unknown_state' : 'wrong_type'
  reader.problem(name, code, `${name}: ${text} is not one of ${values.join(', ')}`)
  return null
}

/** Joins the lines of a folded or literal text. */
function oneLine(text: string | null): string | null {
  if (text === null || !/[\r\n]/.test(text)) return text
  const lines = text.split(/[\r\n]/).map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ') || null
}

/** Returns the first `# Title` line, else the first line with text. */
function titleOf(body: string): string | null {
  let first: string | null = null
  let fence: string | null = null
  for (const { text } of linesOf(body)) {
    if (fence !== null) {
      if (closesFence(text, fence)) fence = null
      continue
    }
    fence = OPENING.exec(text)?.[1] ?? null
    const heading = /^ {0,3}#[ \t]/.test(text) ? headingText(text) : ''
    if (heading !== '') return heading.slice(0, TITLE_MAX)
    const line = text.slice(0, 2 * TITLE_MAX).trim()
    if (first === null && line !== '' && !/^[#<`~|>*+-]/.test(line)) first = line
  }
  return first === null ? null : first.slice(0, TITLE_MAX)
}

const UNKNOWN_ITEM: ChecklistItem = {
  description: 'the whole checklist',
  type: null,
  required: true,
  checked: false,
}

/**
 * Salvages what it can from a file that does not parse and was never read before. The checklist is unknown, so no
 * proof opens the gate.
 */
export async function roughCase(text: string, origin: CaseOrigin): Promise<Case> {
  const fields = roughFields(text)
  const parts = text.split(/^---[ \t]*$/m)
  const body = parts.length > 2 ? parts.slice(2).join('---') : parts.at(-1)!
  const sections = await readSections(body, CASE_LAYOUT, 0)
  const value = ({ name, kind, pattern, values, checkedAtStart }: NamedField) => {
    const found = fields.get(name)
    if (found === undefined || kind === 'words' || checkedAtStart) return null
    if (pattern && !pattern.test(found)) return null
    return values && !values.includes(found) ? null : found
  }
  return {
    id: origin.id,
    created_at: utcTime(fields.get('created_at') ?? '') ?? origin.created_at,
    ...valuesOf((field) => {
      if (field.kind === 'markdown') return sections && sectionText(sections, LEAD)
      if (field.name !== 'title') return value(field)
      return value(field) ?? titleOf(body) ?? origin.id
    }),
    checklist: fields.get('state') === 'RESOLVED' ? [UNKNOWN_ITEM] : [],
  }
}

function isSet(key: string, value: unknown): boolean {
  const row: CaseFieldRow | undefined = CASE_FIELDS[key as FrontmatterField]
  return row !== undefined && JSON.stringify(value) !== JSON.stringify(emptyValue(row))
}

/** The keys of a new file. */
const ALWAYS_WRITTEN: ReadonlySet<string> = new Set([
  'id',
  'created_at',
  ...FIELD_LIST.filter(({ alwaysWritten }) => alwaysWritten).map(({ name }) => name),
])

/** Returns the text of a new case.md: its keys in order, then the description and the checklist. */
export async function newCaseText(value: Case): Promise<string> {
  const keys = FILE_KEYS.filter((key) => ALWAYS_WRITTEN.has(key) || isSet(key, value[key]))
  const head = newFrontmatter(keys.map((key) => [key, value[key]]))
  const lead = head + plainRegion('', true, '\n')
  let text = await withSection(lead, CASE_LAYOUT, LEAD, value.description)
  for (const item of value.checklist)
    if (item.type !== null) text = await withItem(text, CASE_LAYOUT, { ...item, type: item.type })
  return text
}

/**
 * Applies an edit. The first edit also writes keys that a file written by a person lacks, so that derived values
 * (such as the creation time) stay the same.
 */
export async function editedCase(text: string, present: Case, edit: CaseEdit): Promise<string> {
  const { description, ...fields } = edit.fields ?? {}
  const read = readDocument(text)
  const written = read.ok ? read.document.fields : undefined
  const values = { ...present, ...fields }
  const set = FILE_KEYS.filter((key) =>
    written?.has(key)
      ? key in fields
      : ALWAYS_WRITTEN.has(key) || (key in fields && isSet(key, values[key])),
  )
  let edited = text
  if (description !== undefined) edited = await withSection(edited, CASE_LAYOUT, LEAD, description)
  if (edit.addItem) edited = await withItem(edited, CASE_LAYOUT, edit.addItem)
  if (edit.tick) edited = await withTicks(edited, CASE_LAYOUT, edit.tick)
  return withFields(
    edited,
    set.map((key) => [key, values[key]]),
    edited === text ? read : readDocument(edited),
  )
}

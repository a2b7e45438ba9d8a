import * as z from 'zod'
import { parseCsv } from './csv.ts'
import { endingOf } from './ending.ts'
import { createEntryErrors, type EntryErrors } from './entry-errors.ts'
import type { ImportedItem, Importer, InputFile, ReadOptions, ReadResult } from './item.ts'
import { decodeText, jsonOf, parseJson, unreadable } from './json-input.ts'
import { listSection } from './notes.ts'
import { groupBy, plainBreaks, time, unknownFields, wellFormed } from './text.ts'
import { isDatabase, readTables } from './vibe-kanban-database.ts'
import { itemsOfTasks } from './vibe-kanban-tasks.ts'
import { readZipEntry } from './zip.ts'

const EXPECTED =
  'the ZIP file that vibe-kanban exports, its issues.csv, the database db.v2.sqlite, or the answer of GET /api/tasks'

/** The export of Vibe Kanban Cloud, by the headings of its columns. */
const rowSchema = z.object({
  'Issue ID': wellFormed.regex(/^\S.{0,199}$/, 'expected an id, such as SHOP-12'),
  Title: wellFormed.optional(),
  Description: wellFormed.optional(),
  Status: wellFormed.optional(),
  Priority: wellFormed.optional(),
  Project: wellFormed.optional(),
  'Assignee(s)': wellFormed.optional(),
  Creator: wellFormed.optional(),
  Created: time.optional(),
  Updated: time.optional(),
  'Start Date': time.optional(),
  'Due Date': time.optional(),
  Completed: time.optional(),
  'Parent Issue': wellFormed.optional(),
})

type Row = z.output<typeof rowSchema>

export const VIBE_KANBAN: Importer = {
  id: 'vibe-kanban',
  where: 'in vibe-kanban',
  notesFile: 'vibe-kanban.md',
  expected: EXPECTED,
  duplicates: 'Unpack the export, correct issues.csv, and import that file',
  filesIn(list) {
    const names = list('')
    if (names.includes('issues.csv')) {
      return ['issues.csv', 'attachments.csv'].filter((name) => names.includes(name))
    }
    const database = ['db.v2.sqlite', 'db.sqlite'].find((name) => names.includes(name))
    return database ? [database] : []
  },
  matches(file) {
    if (isDatabase(file) || isZip(file)) return true
    const head = Buffer.from(file.bytes.subarray(0, 200)).toString()
    return (
      /^\ufeff?"?Issue ID"?,/.test(head) || Object.hasOwn(Object(taskList(file)?.[0]), 'project_id')
    )
  },
  read: readExport,
}

function isZip({ bytes }: InputFile): boolean {
  return Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'PK\x03\x04'
}

/** The API wraps its answers: `{"success": true, "data": [...]}`. */
function taskList(file: InputFile): unknown[] | null {
  const value = jsonOf(file)
  const list = Object.hasOwn(Object(value), 'data') ? Object(value).data : value
  return Array.isArray(list) ? list : null
}

function readExport(files: readonly InputFile[], { project }: ReadOptions): ReadResult {
  const file = files[0]!
  const errors = createEntryErrors()
  const read = () => {
    if (isDatabase(file)) return itemsOfTasks(readTables(file, EXPECTED), project, errors)
    if (isZip(file) || /\.csv$/i.test(file.path) || jsonOf(file) === undefined) {
      return itemsOfExport(files, project, errors)
    }
    parseJson(file, EXPECTED)
    const tasks = taskList(file)
    if (tasks === null) throw unreadable(file.path, EXPECTED, 'it has no list of tasks')
    return itemsOfTasks({ tasks }, project, errors)
  }
  const { items, warnings } = read()
  return { items, warnings, errors }
}

function itemsOfExport(
  files: readonly InputFile[],
  project: string | undefined,
  errors: EntryErrors,
): Omit<ReadResult, 'errors'> {
  const issues = tableOf(files, 'issues.csv')
  if (issues === null) throw unreadable(files[0]!.path, EXPECTED, 'it has no issues.csv')
  const attachments = groupBy(
    (tableOf(files, 'attachments.csv') ?? []).map(({ value }) => value),
    (value) => String(value['Issue ID']),
  )
  const items = issues.flatMap(({ line, value }) => {
    const id = String(value['Issue ID'] ?? '')
    const entry = `row on line ${line}${id ? ` (${id.slice(0, 60)})` : ''}`
    const row = errors.parse(rowSchema, value, entry)
    if (row === null) return []
    const unknown = unknownFields(value, rowSchema)
    return [toItem(row, { entry, project, attachments: attachments.get(id) ?? [], unknown })]
  })
  const count = [...attachments.values()].flat().length
  const warnings =
    count === 0
      ? []
      : [`${count} attachments are named in the notes, but not copied: keep the export`]
  return { items, warnings }
}

type Cells = Record<string, string>

/** The rows of a table of the export, by the headings of their columns. */
function tableOf(
  files: readonly InputFile[],
  name: string,
): { line: number; value: Cells }[] | null {
  const [first] = files
  const file = isZip(first!)
    ? unpacked(first!, name)
    : (files.find(({ path }) => path.split('/').at(-1) === name) ??
      (name === 'issues.csv' ? first : undefined))
  if (!file) return null
  const parsed = parseCsv(decodeText(file, EXPECTED))
  if ('unclosed' in parsed) {
    const why = `the row on line ${parsed.unclosed} has a quote that is not closed`
    throw unreadable(file.path, EXPECTED, why)
  }
  const [head, ...rows] = parsed.rows
  if (!head?.cells.includes('Issue ID')) {
    throw unreadable(file.path, EXPECTED, 'line 1 has no column "Issue ID"')
  }
  return rows.map(({ line, cells }) => {
    if (cells.length > head.cells.length) {
      const why = `the row on line ${line} has ${cells.length} columns; line 1 has ${head.cells.length}`
      throw unreadable(file.path, EXPECTED, why)
    }
    const entries = head.cells.map((column, index) => [column, cells[index] ?? ''] as const)
    return { line, value: Object.fromEntries(entries) }
  })
}

function unpacked(archive: InputFile, name: string): InputFile | null {
  try {
    const bytes = readZipEntry(archive.bytes, name)
    return bytes && { path: `${archive.path}: ${name}`, absolutePath: null, bytes }
  } catch (error) {
    throw unreadable(archive.path, EXPECTED, (error as Error).message)
  }
}

interface Context {
  entry: string
  project: string | undefined
  attachments: readonly Cells[]
  unknown: Record<string, unknown>
}

function toItem(row: Row, { entry, project, attachments, unknown }: Context): ImportedItem {
  const originOf = (id: string) => `vibe-kanban:${project ? `${project}/` : ''}${id}`
  const id = row['Issue ID']
  const parent = row['Parent Issue']
  return {
    entry,
    name: id,
    source: originOf(id),
    origin: originOf(id),
    title: row.Title ?? null,
    type: null,
    labels: [row.Project ?? '', row.Priority ? `priority:${row.Priority.toLowerCase()}` : ''],
    created_at: row.Created ?? null,
    ending: endingOf(row.Status ?? '', { where: 'in vibe-kanban', at: row.Completed }),
    parent: parent ? originOf(parent) : null,
    description: plainBreaks(row.Description ?? ''),
    criteria: [],
    notes: {
      fields: [
        ['title', row.Title],
        ['status', row.Status],
        ['priority', row.Priority],
        ['project', row.Project],
        ['assignees', row['Assignee(s)']],
        ['creator', row.Creator],
        ['parent', parent],
        ['created_at', row.Created],
        ['updated_at', row.Updated],
        ['start_date', row['Start Date']],
        ['due_date', row['Due Date']],
        ['completed_at', row.Completed],
      ],
      sections: [
        listSection(
          'Attachments',
          attachments.map((each) => Object.values(each).slice(1).filter(Boolean).join(', ')),
        ),
      ],
      unknown,
    },
  }
}

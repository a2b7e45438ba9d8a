import * as z from 'zod'
import { readDocument } from '../markdown/document.ts'
import { lineAt } from '../markdown/lines.ts'
import { readYaml } from '../markdown/yaml-map.ts'
import type { YamlValue } from '../markdown/yaml-scalar.ts'
import { plainNode } from '../markdown/yaml-value.ts'
import { type BacklogBody, readBacklogBody } from './backlog-body.ts'
import { caseIdFor } from './case-id.ts'
import { ended, endingOf, STILL_OPEN } from './ending.ts'
import { createEntryErrors, type EntryErrors } from './entry-errors.ts'
import type { Ending, ImportedItem, Importer, InputFile, ReadOptions, ReadResult } from './item.ts'
import { decodeText } from './json-input.ts'
import { listSection, textSection } from './notes.ts'
import { plainBreaks, textOrNumber, unknownFields } from './text.ts'

const EXPECTED = 'the folder backlog/, or the markdown file of a task'
const FOLDERS = ['tasks', 'drafts', 'completed', 'archive/tasks', 'archive/drafts']
const CONFIG = 'config.yml'

const text = textOrNumber.nullish()
const texts = z
  .union([z.array(textOrNumber), textOrNumber.transform((one) => [one])], {
    error: 'expected a list or a string',
  })
  .nullish()

const taskSchema = z.object({
  id: textOrNumber,
  title: text,
  status: text,
  assignee: texts,
  reporter: text,
  created_date: text,
  updated_date: text,
  completed_date: text,
  due_date: text,
  labels: texts,
  milestone: text,
  dependencies: texts,
  references: texts,
  documentation: texts,
  modified_files: texts,
  parent_task_id: text,
  subtasks: texts,
  priority: text,
  type: text,
  ordinal: text,
})

type Task = z.output<typeof taskSchema>

export const BACKLOG: Importer = {
  id: 'backlog',
  where: 'in Backlog.md',
  notesFile: 'backlog.md',
  expected: EXPECTED,
  matches: ({ path, bytes }) =>
    /\.md$/i.test(path) && /^\ufeff?---/.test(Buffer.from(bytes.subarray(0, 10)).toString()),
  read: readTasks,
}

/** The names of the files and links in a subfolder; none if there is no such folder. `''` is the folder itself. */
type Listing = (subfolder: string) => readonly string[]

/** The files to read in a project's folder, relative to it; none if Backlog.md was not used there. */
export function backlogFiles(list: Listing): readonly string[] {
  for (const base of ['backlog/', '.backlog/', '']) {
    const files = FOLDERS.flatMap((folder) =>
      list(`${base}${folder}`)
        .filter((name) => /\.md$/i.test(name))
        .map((name) => `${base}${folder}/${name}`),
    )
    const hasConfig = list(base.slice(0, -1)).includes(CONFIG)
    const isBacklog = hasConfig || files.some((file) => /\/[a-z]+-\d[^/]*\.md$/i.test(file))
    if (files.length > 0 && isBacklog) return hasConfig ? [...files, base + CONFIG] : files
  }
  return []
}

interface Found {
  task: Task
  /** The id, in the one form that all its spellings have. */
  key: string
  body: BacklogBody
  path: string
  /** The name of its file. */
  file: string
  unknown: Record<string, unknown>
}

function readTasks(files: readonly InputFile[], { project }: ReadOptions): ReadResult {
  const errors = createEntryErrors()
  const config = files.find(({ path }) => path.split('/').at(-1) === CONFIG)
  const lastStatus = config && lastStatusOf(config)
  const tasks = files.filter((file) => file !== config)
  const found = tasks.flatMap((file) => readTask(file, errors) ?? [])
  const others = tasks.length - found.length
  const space = `backlog:${project ? `${project}/` : ''}`
  // what another task names is rather the task that is there than one that was archived
  const named = new Map(found.toReversed().map((each) => [each.key, each]))
  const originOf = (id: string) => {
    const other = named.get(keyOf(id))
    return other ? originOfTask(space, other) : space + keyOf(id)
  }
  const used = new Set<string>()
  const items = found.map((each) => {
    const plain = originOfTask(space, each)
    const origin = used.has(plain) ? `${plain}/${each.file.toLowerCase()}` : plain
    used.add(plain)
    return toItem(each, {
      source: space + each.task.id + (named.get(each.key) === each ? '' : ` (${each.file})`),
      lastStatus,
      origin,
      originOf,
    })
  })
  const warnings = others > 0 ? [`${others} files are not tasks: not imported`] : []
  return { items, warnings, errors }
}

/** With the time of creation, because Backlog.md gives the id of an archived task to a new one. */
function originOfTask(space: string, { key, task }: Found): string {
  const created = isoDate(task.created_date)
  return space + key + (created ? `/${created}` : '')
}

/** Null if the file is no task, such as a readme; errors are added. */
function readTask(file: InputFile, errors: EntryErrors): Found | null {
  const { path } = file
  const source = quotedNames(plainBreaks(decodeText(file, EXPECTED)))
  const read = readDocument(source)
  if (!read.ok) {
    errors.add(path, `line ${read.line}: ${read.message}`)
    return null
  }
  const { fields, bodyStart } = read.document
  if (!fields?.has('id')) {
    if (/(?:^|\/)[a-z]+-\d[^/]*$/i.test(path)) {
      errors.add(path, 'it has no frontmatter with an id')
    }
    return null
  }
  const value = Object.fromEntries([...fields].map(([name, field]) => [name, field.value]))
  const task = errors.parse(taskSchema, value, path)
  if (task === null) return null
  const wrong = dateFields(task).find(([, date]) => date && isoDate(date) === null)
  if (wrong) {
    const line = lineAt(source, fields.get(wrong[0])!.at)
    errors.add(path, `line ${line}: ${wrong[0]}: expected a date such as 2026-03-01`)
  }
  return {
    task,
    body: readBacklogBody(source.slice(bodyStart)),
    path,
    key: keyOf(task.id),
    file: path.split('/').at(-1)!,
    unknown: unknownFields(value, taskSchema),
  }
}

function dateFields({ created_date, updated_date }: Task): [string, string | null | undefined][] {
  return [
    ['created_date', created_date],
    ['updated_date', updated_date],
  ]
}

/** Backlog.md writes names without the quotes that YAML requires: `assignee: [@ada]`. */
function quotedNames(source: string): string {
  const end = source.indexOf('\n---', 3)
  if (!source.startsWith('---') || end === -1) return source
  const head = source
    .slice(0, end)
    .replace(/^((?:assignee|reporter):)(.*)$/gm, (_, key: string, value: string) => {
      const quoted = value.replace(/(^[ \t]*|[[,][ \t]*)(@[^,\]\s"']+)/g, '$1"$2"')
      return key + quoted
    })
    .replace(/^([ \t]*-[ \t]+)(@[^\s"']+)[ \t]*$/gm, '$1"$2"')
  return head + source.slice(end)
}

/** The last status of a configuration means done. */
function lastStatusOf(config: InputFile): string | undefined {
  const read = readYaml(decodeText(config, EXPECTED))
  const statuses = read.ok ? plainNode(read.map.pairs.get('statuses')?.value) : null
  const last = Array.isArray(statuses) ? statuses.at(-1) : null
  return typeof last === 'string' ? last.toLowerCase() : undefined
}

/** The prefix of a project's ids may change, and ids may get zeros: `task-7` and `BACK-007` are the same task. */
function keyOf(id: string): string {
  const [, prefix = '', numbers] = /^([a-z]*)-?(\d+(?:\.\d+)*)$/i.exec(id.trim()) ?? []
  if (numbers === undefined) return id.trim().toLowerCase()
  const number = numbers.replace(/(^|\.)0+(?=\d)/g, '$1')
  return prefix.toLowerCase() === 'draft' ? `draft-${number}` : number
}

interface Context {
  source: string
  lastStatus: string | undefined
  origin: string
  /** Of another task, by its id. */
  originOf(id: string): string
}

function toItem(
  { task, body, path, unknown }: Found,
  { source, lastStatus, origin, originOf }: Context,
): ImportedItem {
  const { id, priority, parent_task_id: parent, labels } = task
  const isDraft = /(?:^|\/)drafts\//.test(path)
  return {
    entry: path,
    name: id,
    source,
    origin,
    title: task.title ?? null,
    type: task.type?.toLowerCase() ?? null,
    labels: [
      ...(labels ?? []),
      ...(isDraft ? ['draft'] : []),
      ...(priority ? [`priority:${priority}`] : []),
    ],
    created_at: isoDate(task.created_date),
    ending: endingFor(task, path, lastStatus),
    parent: parent ? originOf(parent) : null,
    description: body.description,
    criteria: body.criteria,
    notes: {
      fields: [
        ['id', id],
        ['title', task.title],
        ['folder', FOLDERS.find((folder) => `/${path}`.includes(`/${folder}/`))],
        ...withoutId(task),
      ],
      sections: [
        listSection(
          'Dependencies',
          (task.dependencies ?? []).map((other) => `${other} (case ${caseIdFor(originOf(other))})`),
        ),
        ...textSection('Checklists', body.checklists),
        ...textSection('Comments', body.comments),
      ],
      unknown,
    },
  }
}

function withoutId({ id: _id, title: _title, ...others }: Task): [string, YamlValue | undefined][] {
  return Object.entries(others)
}

function endingFor(task: Task, path: string, lastStatus: string | undefined): Ending {
  const status = task.status ?? ''
  const facts = { at: isoDate(task.completed_date) }
  const isLast = lastStatus !== undefined && status.toLowerCase() === lastStatus
  const how = `${status || 'Completed'} in Backlog.md`
  if (isLast || /(?:^|\/)completed\//.test(path)) return ended('done', { how, ...facts })
  const ending = endingOf(status, { where: 'in Backlog.md', ...facts })
  if (!/(?:^|\/)archive\//.test(path) || ending.outcome || ending.state === 'COMPRESSED') {
    return ending
  }
  const isDraft = /drafts\//.test(path)
  return isDraft || status !== ''
    ? ended('dropped', { how: 'Archived in Backlog.md', why: status })
    : STILL_OPEN
}

/** Dates are `2026-03-01`, `2026-03-01 09:30` in UTC, or as in older files `01-03-26`. */
function isoDate(date: string | null | undefined): string | null {
  const [, day, month, year] = /^(\d\d)[-/.](\d\d)[-/.](\d\d)$/.exec(date?.trim() ?? '') ?? []
  const given = year ? `20${year}-${month}-${day}` : (date?.trim() ?? '')
  const whole = /^\d{4}-\d\d-\d\d$/.test(given) ? given : given.replace(' ', 'T')
  const time = Date.parse(/T\d\d:\d\d(?::\d\d)?$/.test(whole) ? `${whole}Z` : whole)
  return /^\d{4}-\d\d-\d\d/.test(whole) && !Number.isNaN(time) ? new Date(time).toISOString() : null
}

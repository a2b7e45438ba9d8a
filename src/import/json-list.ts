import * as z from 'zod'
import { ended, endingOf } from './ending.ts'
import { createEntryErrors } from './entry-errors.ts'
import type { ImportedItem, Importer, InputFile, ReadOptions, ReadResult } from './item.ts'
import { jsonOf, parseLines } from './json-input.ts'
import { commentSection } from './notes.ts'
import { caseTitle, plainBreaks, textOrNumber, time, unknownFields, wellFormed } from './text.ts'

const EXPECTED = 'a list of tasks, or one on each line, as docs/exchange.md describes them'

/** The form that docs/exchange.md describes. */
const taskSchema = z.object({
  tool: wellFormed.regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'expected a short name, such as beads'),
  id: textOrNumber.refine(
    (id) => /^[\p{L}\p{N}][\p{L}\p{N}._/-]{0,199}$/u.test(id),
    'expected an id, such as bd-a1b2',
  ),
  title: wellFormed.nullish(),
  description: wellFormed.nullish(),
  status: wellFormed.nullish(),
  reason: wellFormed.nullish(),
  type: wellFormed.nullish(),
  labels: z.array(wellFormed).nullish(),
  criteria: z.array(wellFormed).nullish(),
  parent: textOrNumber.nullish(),
  created_at: time.nullish(),
  closed_at: time.nullish(),
  comments: z
    .array(
      z.object({
        author: wellFormed.nullish(),
        text: wellFormed.nullish(),
        created_at: time.nullish(),
      }),
    )
    .nullish(),
})

type Task = z.output<typeof taskSchema>

export const JSON_LIST: Importer = {
  id: 'json',
  where: 'in the other tool',
  notesFile: 'imported.md',
  expected: EXPECTED,
  matches(file) {
    const { tool, id } = Object(firstEntry(file))
    return tool !== undefined && id !== undefined
  },
  read: readTasks,
}

/** The first of a list, or the object on the first line. */
function firstEntry(file: InputFile): unknown {
  const list = jsonOf(file)
  if (list !== undefined) return Array.isArray(list) ? list[0] : list
  const text = Buffer.from(file.bytes)
    .toString()
    .replace(/^\ufeff/, '')
  const line = text.split('\n').find((each) => each.trim() !== '')
  return jsonOf({ ...file, bytes: Buffer.from(line ?? '') })
}

function readTasks([file]: readonly InputFile[], { project }: ReadOptions): ReadResult {
  const errors = createEntryErrors()
  const items = entriesIn(file!).flatMap(({ where, value }) => {
    const id = Object(value).id
    const entry = `${where}${typeof id === 'string' ? ` (${id.slice(0, 60)})` : ''}`
    const task = errors.parse(taskSchema, value, entry)
    return task === null ? [] : [toItem(task, entry, project, unknownFields(value, taskSchema))]
  })
  return { items, warnings: [], errors }
}

function entriesIn(file: InputFile): { where: string; value: unknown }[] {
  const list = jsonOf(file)
  if (Array.isArray(list)) {
    return list.map((value, index) => ({ where: `entry ${index + 1}`, value: value as unknown }))
  }
  return parseLines(file, EXPECTED).map(({ line, value }) => ({ where: `line ${line}`, value }))
}

function toItem(
  task: Task,
  entry: string,
  project: string | undefined,
  unknown: Record<string, unknown>,
): ImportedItem {
  const { tool, id, status, parent } = task
  const originOf = (other: string) => `${tool}:${project ? `${project}/` : ''}${other}`
  const facts = { at: task.closed_at, why: task.reason }
  return {
    entry,
    name: id,
    source: originOf(id),
    origin: originOf(id),
    title: caseTitle(task.title ?? null, id),
    type: task.type?.toLowerCase() ?? null,
    labels: task.labels ?? [],
    created_at: task.created_at ?? null,
    ending:
      !status && task.closed_at
        ? ended('done', { how: `Closed in ${tool}`, ...facts })
        : endingOf(status ?? 'open', { where: `in ${tool}`, ...facts }),
    parent: parent ? originOf(parent) : null,
    description: plainBreaks(task.description ?? ''),
    criteria: task.criteria ?? [],
    notes: {
      fields: [
        ['title', task.title],
        ['status', status],
        ['reason', task.reason],
        ['type', task.type],
        ['labels', task.labels],
        ['created_at', task.created_at],
        ['closed_at', task.closed_at],
      ],
      sections: commentSection(task.comments),
      unknown,
    },
  }
}

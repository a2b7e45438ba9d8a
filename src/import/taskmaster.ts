import * as z from 'zod'
import { caseIdFor } from './case-id.ts'
import { joinSections, listItems } from './criteria.ts'
import { endingOf } from './ending.ts'
import { createEntryErrors, type EntryErrors } from './entry-errors.ts'
import type { ImportedItem, Importer, InputFile, ReadOptions, ReadResult } from './item.ts'
import { jsonOf, parseJson, typeName, unreadable } from './json-input.ts'
import { listSection, textSection } from './notes.ts'
import { caseTitle, plainBreaks, textOrNumber, time, unknownFields, wellFormed } from './text.ts'

const EXPECTED = 'the file .taskmaster/tasks/tasks.json'
/** The tag of files from before there were tags. */
const FIRST_TAG = 'master'

const taskSchema = z.object({
  id: textOrNumber,
  title: wellFormed.nullish(),
  description: wellFormed.nullish(),
  details: wellFormed.nullish(),
  testStrategy: wellFormed.nullish(),
  acceptanceCriteria: z
    .union([wellFormed, z.array(wellFormed)], { error: 'expected a string or an array of strings' })
    .nullish(),
  status: wellFormed.nullish(),
  priority: wellFormed.nullish(),
  assignee: wellFormed.nullish(),
  tags: z.array(wellFormed).nullish(),
  dependencies: z.array(textOrNumber).nullish(),
  complexity: textOrNumber.nullish(),
  createdAt: time.nullish(),
  updatedAt: time.nullish(),
  subtasks: z.array(z.unknown()).nullish(),
})

type Task = z.output<typeof taskSchema>

export const TASKMASTER: Importer = {
  id: 'taskmaster',
  where: 'in Task Master',
  notesFile: 'taskmaster.md',
  expected: EXPECTED,
  filesIn(list) {
    if (list('.taskmaster/tasks').includes('tasks.json')) return ['.taskmaster/tasks/tasks.json']
    if (list('tasks').includes('tasks.json')) return ['tasks/tasks.json']
    return list('').includes('tasks.json') ? ['tasks.json'] : []
  },
  matches: (file) => tagsIn(jsonOf(file)) !== null,
  read: readTasks,
}

interface Tag {
  name: string
  tasks: readonly unknown[]
  metadata: unknown
}

/** The tags of a file, or the one list of an older file; null if it has neither. */
function tagsIn(value: unknown): Tag[] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { tasks, metadata } = value as Record<string, unknown>
  if (Array.isArray(tasks)) return [{ name: FIRST_TAG, tasks, metadata }]
  const tags = Object.entries(value).flatMap(([name, each]) => {
    const tag = Object(each)
    return Array.isArray(tag.tasks) ? [{ name, tasks: tag.tasks, metadata: tag.metadata }] : []
  })
  return tags.length === 0 ? null : tags
}

function readTasks([file]: readonly InputFile[], options: ReadOptions): ReadResult {
  const value = parseJson(file!, EXPECTED)
  const tags = tagsIn(value)
  if (tags === null) {
    const why = `expected tags with a list "tasks"; got ${typeName(value)} without one`
    throw unreadable(file!.path, EXPECTED, why)
  }
  const errors = createEntryErrors()
  const items = tags.flatMap((tag) => {
    const { data: created } = time.safeParse(Object(tag.metadata).created)
    const context = {
      space: spaceOf(tag, options),
      tag: tag.name,
      created: created ?? null,
      errors,
    }
    if (tag.name.isWellFormed()) return itemsOf(tag.tasks, null, context)
    errors.add(JSON.stringify(tag.name), 'the name of the tag has half of a surrogate pair')
    return []
  })
  return { items, warnings: [], errors }
}

interface Context {
  space: string
  tag: string
  created: string | null
  errors: EntryErrors
}

/** `parent` is the id of the task whose subtasks these are. */
function itemsOf(
  tasks: readonly unknown[],
  parent: string | null,
  context: Context,
): ImportedItem[] {
  const seen = new Map<string, number>() // Task Master may give an id twice
  const ids = new Set(tasks.map((task) => String(Object(task).id)))
  return tasks.flatMap((value, index) => {
    const id = Object(value).id
    const isNamed = ['string', 'number'].includes(typeof id)
    const entry = `${context.tag}, ${parent === null ? 'task' : `subtask of ${parent}:`} ${isNamed ? String(id).slice(0, 60) : `entry ${index + 1}`}`
    const task = context.errors.parse(taskSchema, value, entry)
    if (task === null) return []
    const plain = parent === null || task.id.includes('.') ? task.id : `${parent}.${task.id}`
    const count = (seen.get(plain) ?? 0) + 1
    seen.set(plain, count)
    const whole = count === 1 ? plain : `${plain}#${count}`
    const siblings = parent === null ? null : { parent, ids }
    const item = toItem(
      task,
      { id: whole, entry, siblings, unknown: unknownFields(value, taskSchema) },
      context,
    )
    return [item, ...itemsOf(task.subtasks ?? [], whole, context)]
  })
}

/**
 * What the origins of a tag begin with. A slash in a tag is encoded, as the tag `y` of the project `x` is another one than
 * `x/y`; unless the tag was imported before that was so.
 */
function spaceOf({ name, tasks }: Tag, { project, known }: ReadOptions): string {
  const before = project === undefined ? 'taskmaster:' : `taskmaster:${project}/`
  const plain = `${before}${name}`
  const wasImported = tasks.some((task) => {
    const { id, title } = Object(task)
    const present = known?.get(caseIdFor(`${plain}/${id}`))
    return present !== undefined && present.title === caseTitle(String(title ?? ''), '')
  })
  if (wasImported) return plain
  return before + name.replace(/%(?=2F|25)/g, '%25').replaceAll('/', '%2F')
}

interface Place {
  id: string
  entry: string
  siblings: { parent: string; ids: ReadonlySet<string> } | null
  unknown: Record<string, unknown>
}

function toItem(
  task: Task,
  { id, entry, siblings, unknown }: Place,
  { space, tag, created }: Context,
): ImportedItem {
  const originOf = (other: string) => `${space}/${other}`
  // a number without a dot in a subtask is a sibling if there is one
  const needs = (task.dependencies ?? []).map((other) =>
    siblings?.ids.has(other) && !other.includes('.') ? `${siblings.parent}.${other}` : other,
  )
  const { acceptanceCriteria, priority } = task
  const given = Array.isArray(acceptanceCriteria)
    ? acceptanceCriteria.map((each) => `- ${each}`).join('\n')
    : acceptanceCriteria
  const criteria = listItems(given ?? '')
  return {
    entry,
    name: tag === FIRST_TAG ? id : `${tag}/${id}`,
    source: originOf(id),
    origin: originOf(id),
    title: task.title ?? null,
    type: null,
    labels: [
      ...(task.tags ?? []),
      ...(tag === FIRST_TAG ? [] : [tag]),
      ...(priority ? [`priority:${priority}`] : []),
    ],
    created_at: task.createdAt ?? created,
    ending: endingOf(task.status ?? 'pending', { where: 'in Task Master' }),
    parent: siblings && originOf(siblings.parent),
    description: plainBreaks(
      joinSections(task.description, [
        { heading: 'Details', text: task.details },
        { heading: 'Acceptance criteria', text: criteria ? null : given },
        { heading: 'Test strategy', text: task.testStrategy },
      ]),
    ),
    criteria: criteria ?? [],
    notes: {
      fields: [
        ['title', task.title],
        ['tag', tag],
        ['status', task.status],
        ['priority', priority],
        ['assignee', task.assignee],
        ['tags', task.tags],
        ['complexity', task.complexity],
        ['created_at', task.createdAt],
        ['updated_at', task.updatedAt],
      ],
      sections: [
        listSection(
          'Dependencies',
          needs.map((other) => `${other} (case ${caseIdFor(originOf(other))})`),
        ),
        ...textSection('Acceptance criteria', criteria && given),
      ],
      unknown,
    },
  }
}

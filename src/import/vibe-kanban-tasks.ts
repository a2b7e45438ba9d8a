import * as z from 'zod'
import { endingOf } from './ending.ts'
import type { EntryErrors } from './entry-errors.ts'
import type { ImportedItem, NoteSection, ReadResult } from './item.ts'
import { quoted } from './notes.ts'
import { groupBy, oneLine, plainBreaks, time, unknownFields, wellFormed } from './text.ts'
import type { Row, Tables } from './vibe-kanban-database.ts'

/** A task of the local vibe-kanban, from its database or its API. */
const taskSchema = z.object({
  id: wellFormed.regex(/^\S.{0,199}$/, 'expected an id'),
  project_id: wellFormed.nullish(),
  title: wellFormed.nullish(),
  description: wellFormed.nullish(),
  status: wellFormed.nullish(),
  parent_workspace_id: wellFormed.nullish(),
  created_at: time.nullish(),
  updated_at: time.nullish(),
})

type Task = z.output<typeof taskSchema>

export function itemsOfTasks(
  tables: Tables,
  project: string | undefined,
  errors: EntryErrors,
): Omit<ReadResult, 'errors'> {
  const related = relate(tables)
  const items = tables.tasks.flatMap((value, index) => {
    const { id } = Object(value)
    const entry = `task ${index + 1}${typeof id === 'string' ? ` (${id.slice(0, 60)})` : ''}`
    const task = errors.parse(taskSchema, value, entry)
    return task ? [toItem(task, entry, unknownFields(value, taskSchema), project, related)] : []
  })
  return { items, warnings: [] }
}

interface Related {
  projects: ReadonlyMap<string, string>
  taskOfWorkspace: ReadonlyMap<string, string>
  /** Paragraphs about each attempt, by the task. */
  attempts: ReadonlyMap<string, string[]>
}

function relate(tables: Tables): Related {
  const { workspaces = [], sessions = [], merges = [] } = tables
  const workspaceOfSession = new Map(
    sessions.map((each) => [String(each.id), String(each.workspace_id)]),
  )
  const workspaceOfProcess = new Map(
    (tables.execution_processes ?? []).map((each) => [
      String(each.id),
      each.workspace_id
        ? String(each.workspace_id)
        : workspaceOfSession.get(String(each.session_id)),
    ]),
  )
  const turns = groupBy(tables.coding_agent_turns ?? [], (turn) =>
    turn.workspace_id
      ? String(turn.workspace_id)
      : workspaceOfProcess.get(String(turn.execution_process_id)),
  )
  const executors = groupBy(sessions, (each) => String(each.workspace_id))
  const mergesOf = groupBy(merges, (each) => String(each.workspace_id))
  const attempts = new Map<string, string[]>()
  for (const workspace of workspaces) {
    const id = String(workspace.id)
    const paragraphs = attemptParts(workspace, {
      sessions: executors.get(id) ?? [],
      merges: mergesOf.get(id) ?? [],
      turns: turns.get(id) ?? [],
    })
    const task = String(workspace.task_id)
    attempts.set(task, [...(attempts.get(task) ?? []), ...paragraphs])
  }
  return {
    projects: new Map((tables.projects ?? []).map(({ id, name }) => [String(id), String(name)])),
    taskOfWorkspace: new Map(workspaces.map(({ id, task_id }) => [String(id), String(task_id)])),
    attempts,
  }
}

interface Attempt {
  sessions: readonly Row[]
  merges: readonly Row[]
  turns: readonly Row[]
}

function attemptParts(workspace: Row, { sessions, merges, turns }: Attempt): string[] {
  const { created_at, branch, executor, name, merge_commit } = workspace
  const agents = [executor, ...sessions.map((each) => each.executor)].filter(Boolean)
  const facts = [
    ...(name ? [`name: ${name}`] : []),
    ...(branch ? [`branch: ${branch}`] : []),
    ...(agents.length > 0 ? [`agent: ${[...new Set(agents)].join(', ')}`] : []),
    ...(merge_commit ? [`merged as ${merge_commit}`] : []),
    ...merges.map(mergeText),
  ]
  const list = facts.map((fact) => `- ${oneLine(fact).toWellFormed()}`).join('\n')
  const texts = turns.flatMap(({ prompt, summary }) => [
    ...(prompt ? ['Prompt:', quoted(String(prompt).toWellFormed())] : []),
    ...(summary ? ['Answer:', quoted(String(summary).toWellFormed())] : []),
  ])
  const heading = `### Attempt${created_at ? `, ${oneLine(String(created_at))}` : ''}`
  return [heading, ...(list ? [list] : []), ...texts]
}

function mergeText(merge: Row): string {
  const to = merge.target_branch_name ? ` into ${merge.target_branch_name}` : ''
  if (merge.pr_url) return `pull request ${merge.pr_url} (${merge.pr_status})${to}`
  return `merged as ${merge.merge_commit}${to}`
}

function toItem(
  task: Task,
  entry: string,
  unknown: Record<string, unknown>,
  project: string | undefined,
  { projects, taskOfWorkspace, attempts }: Related,
): ImportedItem {
  const originOf = (id: string) => `vibe-kanban:${project ? `${project}/` : ''}${id}`
  const name = projects.get(task.project_id ?? '')
  const parent = taskOfWorkspace.get(task.parent_workspace_id ?? '')
  const tries = attempts.get(task.id) ?? []
  const sections: NoteSection[] = [{ heading: 'Attempts', parts: tries }]
  return {
    entry,
    name: task.id.slice(0, 8),
    source: originOf(task.id),
    origin: originOf(task.id),
    title: task.title ?? null,
    type: null,
    labels: name ? [name] : [],
    created_at: task.created_at ?? null,
    ending: endingOf(statusWords(task.status ?? ''), { where: 'in vibe-kanban' }),
    parent: parent ? originOf(parent) : null,
    description: plainBreaks(task.description ?? ''),
    criteria: [],
    notes: {
      fields: [
        ['title', task.title],
        ['status', task.status],
        ['project', name ?? task.project_id],
        ['parent_attempt', task.parent_workspace_id],
        ['created_at', task.created_at],
        ['updated_at', task.updated_at],
      ],
      sections,
      unknown,
    },
  }
}

/** The local vibe-kanban writes `inprogress`. */
function statusWords(status: string): string {
  return status.replace(/^in(progress|review)$/i, 'in $1')
}

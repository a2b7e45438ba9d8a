import { caseIdFor } from './case-id.ts'
import type { KnownCase } from './item.ts'
import { groupBy } from './text.ts'

/** A task of a tool that may give the id of an archived task to a new one. */
export interface IdentifiedTask {
  /** The id, in the one form that all its spellings have. */
  key: string
  title: string
  created_at: string | null
  /** The name of its file. */
  file: string
}

interface Rival<T> {
  task: T
  /** From the most general; only the last is certain to be no other task's. */
  origins: string[]
}

/**
 * An origin for each task. Of tasks with the same id, each keeps the case that it has; of those without a case, the
 * first in the list is the one that the id alone means. A folder says nothing: tasks move.
 */
export function findOrigins<T extends IdentifiedTask>(
  tasks: readonly T[],
  space: string,
  known: ReadonlyMap<string, KnownCase>,
): Map<T, string> {
  const origins = new Map<T, string>()
  for (const group of groupBy(tasks, ({ key }) => key).values()) {
    const rivals = new Set(group.map((task) => ({ task, origins: originsOf(task, space) })))
    const used = new Set<string>()
    const settle = (rival: Rival<T>, origin: string) => {
      origins.set(rival.task, origin)
      used.add(origin)
      rivals.delete(rival)
    }
    const all = new Set([...rivals].flatMap((rival) => rival.origins))
    const present = [...all].filter((origin) => known.has(caseIdFor(origin)))
    for (const isSame of SAMENESS) {
      for (const origin of present) {
        if (used.has(origin)) continue
        const there = known.get(caseIdFor(origin))!
        const rival = [...rivals].find(
          (each) => each.origins.includes(origin) && isSame(each.task, there, origin),
        )
        if (rival) settle(rival, origin)
      }
    }
    for (const origin of present) used.add(origin)
    for (const rival of rivals) {
      const free = rival.origins.find((origin) => !used.has(origin))
      settle(rival, free ?? rival.origins.at(-1)!)
    }
  }
  return origins
}

function originsOf({ key, created_at, file }: IdentifiedTask, space: string): string[] {
  const plain = space + key
  return [
    plain,
    ...(created_at === null ? [] : [`${plain}/${created_at}`]),
    `${plain}/${file.toLowerCase()}`,
  ]
}

/** Whether a task is the one that an existing case was made from: the most certain way first. */
const SAMENESS: ((task: IdentifiedTask, present: KnownCase, origin: string) => boolean)[] = [
  (task, present) => task.created_at === present.created_at && task.title === present.title,
  (task, present) => task.created_at === present.created_at,
  (task, present) => task.title === present.title,
  (task, _, origin) => task.created_at === null || origin.endsWith(`/${task.file.toLowerCase()}`),
]

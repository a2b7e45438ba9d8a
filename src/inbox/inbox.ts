/** What waits in all workspaces of this user: their services are asked, and files read where none runs. */

import type { Inbox } from '../http/deps.ts'
import { newestFirst, type OwnInboxDeps, ownInbox } from '../http/inbox-items.ts'
import type { InboxJson } from '../http/schemas/inbox.ts'
import { findWorkspaces, type KnownWorkspace } from '../state/known-workspaces.ts'
import { createWorkspaceReader, type Part, type WorkspaceReader } from './workspace-reader.ts'

/** How often workspaces are asked while somebody watches. */
const WATCH_MS = 400
/** A folder that is gone is reported for so long after its last use. */
const GONE_REPORTED_MS = 24 * 60 * 60_000

export interface InboxOptions {
  /** The folder with the state folders. */
  around: string
  /** The service that asks; without one, a command. */
  own?: OwnInboxDeps & { stateDir: string }
  log: (line: string) => void
}

export function createInbox({ around, own, log }: InboxOptions): Inbox {
  const readers = new Map<string, WorkspaceReader>()
  const parts = new Map<string, Part>()
  const watchers = new Set<() => void>()
  let others = false
  let timer: NodeJS.Timeout | undefined

  /** Finds new workspaces; those whose state folder is gone are forgotten. */
  async function find(): Promise<KnownWorkspace[]> {
    const all = await findWorkspaces(around)
    const found = all.filter(({ stateDir }) => stateDir !== own?.stateDir)
    for (const key of parts.keys())
      if (!found.some(({ stateDir }) => stateDir === key)) parts.delete(key)
    others = found.length > 0
    return found
  }

  async function update(workspace: KnownWorkspace, isWatch: boolean): Promise<void> {
    const { stateDir, usedAt } = workspace
    const reader = readers.get(stateDir) ?? createWorkspaceReader(log)
    readers.set(stateDir, reader)
    const part = await reader.read(workspace, isWatch)
    const isForgotten = part.workspace.state === 'gone' && Date.now() - usedAt > GONE_REPORTED_MS
    if (isForgotten) parts.delete(stateDir)
    else parts.set(stateDir, part)
  }

  async function updateAll(): Promise<void> {
    const found = await find()
    await Promise.all(found.map((each) => update(each, false)))
  }

  async function whole(base: string): Promise<InboxJson> {
    const present = own ? await ownInbox(own, base) : { items: [], workspaces: [] }
    const all = [...parts.values()]
    return {
      items: newestFirst([...present.items, ...all.flatMap(({ items }) => items)]),
      workspaces: [...present.workspaces, ...all.map(({ workspace }) => workspace)],
    }
  }

  const failed = (error: unknown) => log(`the inbox could not be read: ${String(error)}`)
  const show = () => {
    for (const each of watchers) each()
  }

  /** A workspace that answers late does not delay the others. */
  async function look(): Promise<void> {
    const found = await find()
    for (const each of found) update(each, true).then(show, failed)
    show()
  }

  void find().catch(failed)
  return {
    async read(base) {
      await updateAll()
      return whole(base)
    },
    watch(base, listener) {
      let last = ''
      let isReading = false
      let isChanged = false

      async function readAgain(): Promise<void> {
        isChanged = true
        if (isReading) return
        isReading = true
        try {
          while (isChanged) {
            isChanged = false
            const inbox = await whole(base)
            const text = JSON.stringify(inbox)
            if (text === last || !watchers.has(watcher)) continue
            last = text
            listener(inbox)
          }
        } catch (error) {
          failed(error)
        } finally {
          isReading = false
        }
      }

      const watcher = () => void readAgain()
      const first = updateAll().catch(failed)
      let isLeft = false
      void first.then(() => {
        if (isLeft) return
        watchers.add(watcher)
        watcher()
        timer ??= setInterval(() => void look().catch(failed), WATCH_MS)
      })
      return () => {
        isLeft = true
        watchers.delete(watcher)
        if (watchers.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    hasOthers: () => others,
  }
}

import { basename } from 'node:path'
import { createClient } from '../client/client.ts'
import { sendInProcess } from '../client/in-process.ts'
import { ConnectionLost, httpRequest } from '../client/request.ts'
import { isFolder } from '../files/folder-names.ts'
import { itemPage } from '../http/inbox-items.ts'
import { type InboxItemJson, type InboxWorkspaceJson, inbox } from '../http/schemas/inbox.ts'
import { AppError } from '../model/app-error.ts'
import { quoteForShell } from '../runners/shell-quote.ts'
import { findFolders } from '../settings/folders.ts'
import type { KnownWorkspace } from '../state/known-workspaces.ts'
import { askOwner } from '../state/owner/find-owner.ts'

/** How long a service may take to answer. */
const ANSWER_MS = 3_000
/** Files are read again after this many times as long as reading them took. */
const FILES_PAUSE = 20
const FILES_PAUSE_MS = 1_000

/** One workspace with what waits there. */
export interface Part {
  workspace: InboxWorkspaceJson
  items: readonly InboxItemJson[]
}

export interface WorkspaceReader {
  /** The present part. `isWatch`: files may be those of a moment ago. */
  read(workspace: KnownWorkspace, isWatch?: boolean): Promise<Part>
}

/** Reads one workspace again and again. Takes no lock and writes nothing. */
export function createWorkspaceReader(log: (line: string) => void): WorkspaceReader {
  let running: Promise<Part> | null = null
  let answered: { url: string; etag: string; part: Part } | null = null
  let files: { part: Part; until: number } | null = null

  async function present(workspace: KnownWorkspace, isWatch: boolean): Promise<Part> {
    if (!(await isFolder(workspace.root)))
      return emptyPart(workspace, 'gone', 'The folder was moved or deleted.')
    const asked = await askOwner(workspace)
    const owner = asked?.owner
    if (!asked || owner?.short) {
      answered = null
      if (files && isWatch && performance.now() < files.until) return files.part
      const begun = performance.now()
      const part = await readFiles(workspace, log)
      const pause = Math.max(FILES_PAUSE_MS, FILES_PAUSE * (performance.now() - begun))
      files = { part, until: performance.now() + pause }
      return part
    }
    files = null
    const part = owner?.url && (await ask(owner.url, workspace))
    if (part) return part
    const who = owner ? `process ${owner.pid}` : 'a process with an unknown pid'
    return silent(workspace, `Its service (${who}) does not answer.`)
  }

  /** Its items may still wait, so the last known ones stay. */
  function silent(workspace: KnownWorkspace, message: string): Part {
    const part = emptyPart(workspace, 'silent', message)
    const items = answered?.part.items ?? []
    return { workspace: { ...part.workspace, waiting: items.length }, items }
  }

  /** Null if what answers is not the service of this workspace. */
  async function ask(url: string, workspace: KnownWorkspace): Promise<Part | null> {
    const headers: Record<string, string> =
      answered?.url === url ? { 'if-none-match': answered.etag } : {}
    const signal = AbortSignal.timeout(ANSWER_MS)
    try {
      const response = await httpRequest(`${url}/inbox?workspace=own`, { headers, signal })
      const text = await response.text()
      if (response.status === 304 && answered) return answered.part
      if (response.status !== 200) return null
      const found = partOf(JSON.parse(text), workspace, url)
      if (found) answered = { url, etag: response.header('etag') ?? '', part: found }
      return found
    } catch (error) {
      if (error instanceof ConnectionLost || error instanceof SyntaxError) return null
      if (signal.aborted) return null
      throw error
    }
  }

  return {
    read(workspace, isWatch = false) {
      running ??= present(workspace, isWatch)
        .catch((error: unknown) => {
          const why = error instanceof AppError ? error.message : String(error)
          return silent(workspace, why)
        })
        .finally(() => {
          running = null
        })
      return running
    },
  }
}

/** A workspace without an answer. */
function emptyPart(
  { root, memoryRoot }: KnownWorkspace,
  state: InboxWorkspaceJson['state'],
  message: string,
): Part {
  const workspace = {
    name: basename(root),
    root,
    memory_root: memoryRoot,
    state,
    url: null,
    waiting: 0,
    message,
  }
  return { workspace, items: [] }
}

/** Checks what a service said; it must be of this memory root. Addresses are made from that of the service. */
function partOf(
  body: unknown,
  { root, memoryRoot }: KnownWorkspace,
  url: string | null,
): Part | null {
  const [{ items, workspaces } = { items: [], workspaces: [] }] = [inbox.safeParse(body).data]
  const [workspace] = workspaces
  if (workspace?.memory_root !== memoryRoot) return null
  return {
    workspace: { ...workspace, root, url },
    items: items.map((item) => ({ ...item, root, url: url && url + itemPage(item) })),
  }
}

/** What its files say, also after a service was killed. */
async function readFiles(workspace: KnownWorkspace, log: (line: string) => void): Promise<Part> {
  const { openReadOnlyApp } = await import('../read-only-service.ts')
  const { root, memoryRoot, stateDir } = workspace
  const folders = await findFolders({ root, memoryRoot, stateDir }, process.env)
  const app = await openReadOnlyApp(folders, log, { unclean: true })
  const start = `casefile serve --root ${quoteForShell(root)}`
  const state = { state: 'stopped', message: `No service runs. Start it with: ${start}` } as const
  try {
    const { signal } = new AbortController()
    const send = sendInProcess(app!.fetch)
    const client = createClient({ url: 'http://127.0.0.1:0', send }, signal)
    const { body } = await client.request('GET', '/inbox?workspace=own')
    const part = partOf(body, workspace, null)!
    return { ...part, workspace: { ...part.workspace, ...state } }
  } finally {
    app?.close()
  }
}

import { basename } from 'node:path'
import type { InboxItemJson, InboxWorkspaceJson } from '../http/schemas/inbox.ts'
import type { KnownWorkspace } from '../state/known-workspaces.ts'

/** One workspace with what waits there. */
export interface Part {
  workspace: InboxWorkspaceJson
  items: readonly InboxItemJson[]
}

/** A workspace without an answer. */
export function emptyPart(
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

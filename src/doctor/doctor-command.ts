import { visibleText } from '../model/visible-text.ts'
import type { HeardConversation } from '../runners/agents/install/levels.ts'
import type { FolderOptions } from '../settings/folders.ts'
import { openWorkspaceFolders } from '../settings/workspace-folders.ts'
import { examine } from './examination.ts'
import { examinationText, handshakeText } from './examination-text.ts'
import { type AgentHandshake, handshakes } from './handshakes.ts'

export interface DoctorTerminal {
  print(text: string): void
  warn(line: string): void
}

/**
 * `casefile doctor`: reports what sessions can run with here, and tries to connect to each ACP agent. Needs no
 * service, and starts nothing untrusted. Returns the exit code: 1 if the default provider cannot be used.
 */
export async function doctor(
  options: FolderOptions,
  { print, warn }: DoctorTerminal,
  environment: NodeJS.ProcessEnv = process.env,
  heard: readonly HeardConversation[] = [],
): Promise<number> {
  const places = await openWorkspaceFolders(options, environment, warn)
  const found = await examine(places, environment, heard)
  print(examinationText(found))
  let objection = found.objection
  let isFirst = true
  for await (const tried of handshakes(places, environment)) {
    print(`${isFirst ? '\n' : ''}${handshakeText(tried)}`)
    isFirst = false
    if (tried.id === found.standard) objection ??= handshakeObjection(tried)
  }
  if (objection === null) return 0
  print(`\nNew sessions cannot use ${visibleText(found.standard)}: ${visibleText(objection)}\n`)
  return 1
}

function handshakeObjection({ handshake }: AgentHandshake): string | null {
  if (!handshake.ok) return handshake.reason
  return handshake.planMode === null ? 'it offers no mode for planning.' : null
}

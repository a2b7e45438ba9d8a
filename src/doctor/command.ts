import { visibleText } from '../model/visible-text.ts'
import type { PlaceOptions } from '../workspace/settings/folders.ts'
import { openPlaces } from '../workspace/settings/places.ts'
import { examine } from './examination.ts'
import { examinationText, handshakeText } from './examination-text.ts'
import { type AgentHandshake, handshakes } from './handshakes.ts'

export interface DoctorTerminal {
  print(text: string): void
  warn(line: string): void
}

/**
 * `casefile doctor`: says what sessions can run with here, and tries to talk to each agent that speaks
 * ACP. Needs no service, and starts nothing that is not trusted. Resolves to the exit code: 1 where the
 * provider of new sessions could not be used.
 */
export async function doctor(
  options: PlaceOptions,
  { print, warn }: DoctorTerminal,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const places = await openPlaces(options, environment, warn)
  const found = await examine(places, environment)
  print(examinationText(found))
  let complaint = found.complaint
  let isFirst = true
  for await (const tried of handshakes(places, environment)) {
    // do not repeat what the table shows
    const isNew = found.providers.every(({ warning }) => warning !== tried.warning)
    print(`${isFirst ? '\n' : ''}${handshakeText(tried, isNew ? tried.warning : null)}`)
    isFirst = false
    if (tried.id === found.standard) complaint ??= complaintAbout(tried)
  }
  if (complaint === null) return 0
  print(`\nNew sessions cannot use ${visibleText(found.standard)}: ${visibleText(complaint)}\n`)
  return 1
}

function complaintAbout({ handshake }: AgentHandshake): string | null {
  if (!handshake.ok) return handshake.reason
  return handshake.planMode === null ? 'it offers no mode to plan in.' : null
}

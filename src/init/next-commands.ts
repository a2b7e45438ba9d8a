import { OWN_PROVIDER } from '../model/settings.ts'

/** The two commands that come next in a terminal while the service runs, by who plans. */
export function nextCommands({
  provider,
  inTerminal,
}: {
  provider: string
  inTerminal: boolean
}): string[] {
  const create = 'casefile new "What is wrong" --type bug'
  if (provider === OWN_PROVIDER) return [create, 'casefile open "what is"']
  return [create, inTerminal ? provider : 'casefile start "what is"']
}

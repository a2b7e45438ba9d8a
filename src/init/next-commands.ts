import { OWN_PROVIDER } from '../model/settings.ts'

export const CREATE_CASE = 'casefile new "What is wrong" --type bug'

/** The two commands that come next in a terminal while the service runs, by who plans. */
export function nextCommands({
  provider,
  inTerminal,
}: {
  provider: string
  inTerminal: boolean
}): string[] {
  if (provider === OWN_PROVIDER) return [CREATE_CASE, 'casefile open "what is"']
  if (inTerminal) return [`${CREATE_CASE} --use`, provider]
  return [CREATE_CASE, 'casefile start "what is"']
}

import { onlyCommand } from './simple-commands.ts'

/** As much of an id as Casefile shows. */
const SHORT_ID = 8

/**
 * Whether a shell command only hands in an intent for this case, which waits for approval: alone and in the foreground, so
 * that the service recognizes the agent, and with no option that asks for more.
 */
export function isProposal(command: string, caseId: string): boolean {
  const [program, start, ...args] = onlyCommand(command) ?? []
  if (program?.text !== 'casefile' || start?.text !== 'start') return false
  const cases: string[] = []
  let hasIntent = false
  /** The option whose value comes next; with `isMore`, it may have further ones. */
  let open: { isList: boolean; isMore: boolean } | null = null
  for (const { text, isExpanded, mayBeOption } of args) {
    if (isExpanded || mayBeOption) return false
    if (text.startsWith('-')) {
      const [, name, value] = /^--(intent|paths|commands|proof)(=.*)?$/s.exec(text) ?? []
      if (!name || (open && !open.isMore)) return false
      hasIntent ||= name === 'intent'
      open = value === undefined ? { isList: name !== 'intent', isMore: false } : null
    } else if (open) {
      open = open.isList ? { isList: true, isMore: true } : null
    } else cases.push(text)
  }
  const [named, ...others] = cases
  const isOwn = named !== undefined && named.length >= SHORT_ID && caseId.startsWith(named)
  return hasIntent && !(open && !open.isMore) && isOwn && others.length === 0
}

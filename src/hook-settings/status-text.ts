import { visibleText } from '../model/visible-text.ts'
import { FAILS_OPEN, type HookStatus, type HooksReport } from './status.ts'

export const INSTALLED: Readonly<Record<HookStatus['installed'], string>> = {
  current: 'installed',
  older: 'older version',
  changed: 'changed by hand',
  unreadable: 'unreadable',
}

/** Which hooks there are, in one line. */
export function hooksSummary({ hooks }: HooksReport): string {
  if (hooks.length === 0) return 'none; casefile hooks install gates the agents that you run'
  return hooks
    .map(({ agent, place, installed }) => `${agent} (${place}): ${INSTALLED[installed]}`)
    .join(', ')
}

/** What keeps the hooks from working, and when an agent does not wait for them. */
export function hookLines({ hooks, missing, warnings }: HooksReport): string[] {
  const stale = hooks.filter(({ installed }) => installed === 'older' || installed === 'changed')
  const agents = new Set(hooks.map(({ agent }) => agent))
  return [
    ...warnings,
    ...hooks.flatMap(({ agent, warnings }) => warnings.map((each) => `${agent}: ${each}`)),
    ...stale.map(
      ({ agent, place }) =>
        `${agent}: write its hooks again: casefile hooks install ${agent} --${place}`,
    ),
    ...missing.map((agent) => `${agent}: has no hooks; casefile hooks install ${agent} gates it`),
    ...[...agents].map(
      (agent) => `${agent}: a tool runs without an answer of Casefile ${FAILS_OPEN[agent]}`,
    ),
  ].map(visibleText)
}

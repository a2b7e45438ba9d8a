import { visibleText } from '../../../model/visible-text.ts'
import { hookAgent } from './hook-agents.ts'
import type { HookLevel, LeveledHooks, LeveledReport } from './levels.ts'

/** Each level as a word, and how its reason follows it. */
const WORDS: Readonly<Record<HookLevel, readonly [word: string, link: string]>> = {
  gated: ['gated', ''],
  recorded_only: ['recorded only', ': '],
  fails_open: ['fails open', ' '],
  denies_all: ['denies everything', ': '],
  not_heard: ['not heard', ' '],
  not_trusted: ['not trusted by the agent', ': '],
  switched_off: ['switched off', ': '],
  untested: ['not tested', ' '],
  not_installed: ['not installed', ': '],
}

export function levelWord(level: HookLevel): string {
  return WORDS[level][0]
}

/** The level of some hooks with its reason. */
export function levelText({ level, reason }: Pick<LeveledHooks, 'level' | 'reason'>): string {
  const [word, link] = WORDS[level]
  return reason === '' ? word : word + link + reason
}

/** Which hooks there are, in one line. */
export function hooksSummary({ hooks }: LeveledReport): string {
  if (hooks.length === 0) return 'none; casefile agent install gates the agents that you run'
  return hooks
    .map(({ agent, place, level, tested_at }) => {
      const when = tested_at === null ? '' : `, tested ${tested_at}`
      return `${agent} (${place}): ${levelWord(level)}${when}`
    })
    .join('; ')
}

/** What keeps the hooks from working, and when an agent does not wait for them. */
export function hookLines({ hooks, missing, warnings }: LeveledReport): string[] {
  const stale = hooks.filter(({ installed }) => installed === 'older' || installed === 'changed')
  const agents = new Set(hooks.map(({ agent }) => agent))
  return [
    ...warnings,
    ...hooks
      // a reason of the agent's own files is among the warnings
      .filter(({ level, reason, warnings }) => level !== 'gated' && !warnings.includes(reason))
      .map((each) => {
        const hint = `; casefile agent test ${each.agent} shows what they deny`
        return `${each.agent}: ${levelText(each)}${each.level === 'untested' ? hint : ''}`
      }),
    ...hooks.flatMap(({ agent, warnings }) => warnings.map((each) => `${agent}: ${each}`)),
    ...new Set(
      hooks.flatMap(({ agent, version_note }) =>
        version_note === null ? [] : [`${agent}: ${version_note}`],
      ),
    ),
    ...stale.map(
      ({ agent, place, installed }) =>
        `${agent}: its hooks ${installed === 'older' ? 'are of an older version' : 'were changed by hand'}; write them again: casefile agent install ${agent} --${place}`,
    ),
    ...missing.map((agent) => `${agent}: has no hooks; casefile agent install ${agent} gates it`),
    ...[...agents].map(
      (agent) =>
        `${agent}: a tool runs without an answer of Casefile ${hookAgent(agent).failsOpen}`,
    ),
  ].map(visibleText)
}

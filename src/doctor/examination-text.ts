import { visibleText } from '../model/visible-text.ts'
import { unseenNote } from '../runners/agents/agent-version.ts'
import type { LeveledReport } from '../runners/agents/install/levels.ts'
import { hookLines, hooksSummary } from '../runners/agents/install/status-text.ts'
import { KNOWN_AGENTS } from '../runners/agents/registry.ts'
import type { ProviderStatus } from '../sessions/providers.ts'
import type { Examination } from './examination.ts'
import type { AgentHandshake } from './handshakes.ts'

/** Many people let Casefile start their agents, and need no hooks. */
const NO_HOOKS: LeveledReport = { hooks: [], missing: [], warnings: [] }

/** The facts of an examination as text for a terminal. */
export function examinationText(found: Examination): string {
  const { sandbox } = found
  const mount =
    sandbox.kind === 'none'
      ? `does not work here: ${visibleText(sandbox.reason)}`
      : `works${sandbox.overlay ? '' : ', but no overlay: agents plan in a read-only folder'}`
  const facts = [
    ['workspace', visibleText(found.root)],
    ['cases', visibleText(found.memoryRoot)],
    ['state folder', visibleText(found.state)],
    ['casefile.md', found.trust],
    ['agent files', visibleText(found.agentFiles)],
    [
      'git',
      found.git === null ? 'not found; needed for diffs and history' : visibleText(found.git),
    ],
    ['read-only mount', mount],
    ['sandbox-runtime', visibleText(found.runtime)],
    ['hooks', hooksSummary(found.hooks)],
    ['notify', visibleText(found.notify)],
  ]
  const rows = [
    ['provider', 'version', 'plan mode', 'login', 'found at'],
    ...found.providers.map((provider) => rowOf(provider, found.standard)),
  ]
  const warnings = found.providers.flatMap(({ id, warning }) =>
    warning === null ? [] : [`${visibleText(id)}: ${visibleText(warning)}\n`],
  )
  const notes = [
    ...warnings,
    ...found.providers.flatMap(unseenLines),
    ...hookLines(found.hooks.hooks.length === 0 ? NO_HOOKS : found.hooks).map(
      (line) => `${line}\n`,
    ),
  ]
  return `${table(facts)}\n${table(rows)}${notes.length > 0 ? '\n' : ''}${[...new Set(notes)].join('')}`
}

/** That no test of ours has run with the version of an agent. */
function unseenLines({ id, version }: ProviderStatus): string[] {
  const spec = KNOWN_AGENTS.find((each) => each.id === id)
  const note = spec && unseenNote(spec, version)
  return note ? [`${visibleText(id)}: ${visibleText(note)}\n`] : []
}

export function handshakeText({ id, handshake }: AgentHandshake): string {
  const name = visibleText(id)
  if (!handshake.ok) return `${name}: no handshake: ${visibleText(handshake.reason)}\n`
  const { version, modes, planMode } = handshake
  const said = version === undefined ? '' : ` with version ${visibleText(version)}`
  const offer = modes.length === 0 ? 'no modes' : `the modes ${visibleText(modes.join(', '))}`
  const plans =
    planMode === null
      ? 'none of which is known to be for planning, so it may not plan'
      : `and would plan in ${visibleText(planMode)}`
  return `${name}: handshake${said}; it offers ${offer}, ${plans}\n`
}

function rowOf(provider: ProviderStatus, standard: string): string[] {
  const { id, version, path, plan_mode, login, available, trusted, advice } = provider
  const name = visibleText(id) + (id === standard ? ' (default)' : '')
  const place = available ? visibleText(path ?? 'built in') : visibleText(advice)
  return [
    name,
    visibleText(version ?? '-'),
    plan_mode.holds.replace('_', ' '),
    login?.replaceAll('_', ' ') ?? '-',
    trusted ? place : `${place} (not trusted)`,
  ]
}

/** Columns of equal width, except for the last one. */
function table(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!))),
  )
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('')
}

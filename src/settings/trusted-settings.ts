/**
 * Applies the operator's trust to casefile.md: a setting that lets runs do more, or restricts them less than before,
 * applies only once it is trusted.
 */

import { resolve } from 'node:path'
import { hashOf } from '../files/decoded.ts'
import type { Problem } from '../model/problem.ts'
import { NO_LONGER, type RemovedRestriction, withRestrictions } from '../model/restrictions.ts'
import { SETTINGS_FILE, type Settings } from '../model/settings.ts'
import { standingText } from '../model/standing.ts'
import {
  foreignProviders,
  remoteTargets,
  type TrustState,
  trustedText,
  untrustedSettings,
  widerSettings,
} from '../model/trust.ts'
import type { TrustedFiles } from './agent-files.ts'
import type { TrustFile } from './trust-file.ts'

/** The settings that apply after trust, with the problems of both. Whoever uses `providers`, `env` or `notify` looks at `trust`. */
export interface TrustedSettings extends Settings {
  /** As casefile.md has them. */
  file: Settings
  /** Restrictions that casefile.md no longer has. They apply until the change is trusted. */
  removed: readonly RemovedRestriction[]
  /** Trust in all settings that need it, together. */
  trust: TrustState
  /** Real paths outside the workspace in which sessions may work. */
  folders: ReadonlySet<string>
  /** Project files that agents may act on. */
  files: TrustedFiles
}

interface TrustedSettingsDeps {
  settings: () => Promise<Settings>
  trust: TrustFile
  /**
   * The memory root in use, which casefile.md cannot change while the service runs; null if the command line sets it.
   */
  root: string
  memoryRoot: string | null
}

export interface SettingsSource {
  (): Promise<TrustedSettings>
  /** The same for a run that is about to begin: what is restricted now stays so, whatever the run makes of casefile.md. */
  forRun(): Promise<TrustedSettings>
}

export function createTrustedSettings(deps: TrustedSettingsDeps): SettingsSource {
  async function present(): Promise<TrustedSettings> {
    const file = await deps.settings()
    const trusted = await deps.trust.read()
    const trust = trustOf(file, trusted.settings)
    const counted = trust === 'trusted' ? file : { ...file, ...untrustedSettings(file) }
    const { settings, removed } = withRestrictions(counted, trusted.restrictions)
    const { folders, files } = trusted
    return {
      ...settings,
      file,
      removed,
      trust,
      folders: new Set(folders),
      files,
      problems: [
        ...file.problems,
        ...moved(file, deps),
        ...untrusted(file, trust),
        ...removed.map(removedProblem),
      ],
    }
  }
  return Object.assign(present, {
    async forRun() {
      const settings = await present()
      await deps.trust.restrict(settings)
      return settings
    },
  })
}

function removedProblem({ key, names }: RemovedRestriction): Problem {
  return {
    code: 'untrusted_settings',
    file: SETTINGS_FILE,
    line: null,
    message: `${key}: casefile.md no longer ${NO_LONGER[key](names.join(', '))}. The limit still applies. Restore the setting, or run casefile doctor --trust`,
  }
}

/** The hash that is stored if these settings are trusted; null if nothing needs trust. */
export function trustHash(settings: Settings): string | null {
  const text = trustedText(settings)
  return text === null ? null : hashOf(Buffer.from(text))
}

function trustOf(settings: Settings, trusted: string | null): TrustState {
  const hash = trustHash(settings)
  if (hash === null || hash === trusted) return 'trusted'
  return trusted === null ? 'untrusted' : 'changed'
}

function untrusted(settings: Settings, trust: TrustState): Problem[] {
  if (trust === 'trusted') return []
  const wider = widerSettings(settings)
  const since = trust === 'changed' ? 'changed since it was trusted' : 'not trusted'
  const reasons: [key: string, names: readonly string[], meanwhile: string][] = [
    ['providers', foreignProviders(settings), 'sessions cannot use'],
    ['env', settings.env, 'steps do not get'],
    ['notify', [...new Set(remoteTargets(settings).map(({ kind }) => kind))], 'nothing is sent to'],
    ['cache', wider.cache ?? [], 'runs do not write to'],
    [
      'sandbox',
      wider.sandbox === undefined ? [] : ['all of the machine'],
      'runs are held back from',
    ],
    [
      'reading_tools',
      wider.readingTools ?? [],
      'a conversation without an approved plan cannot use',
    ],
    [
      'reading_commands',
      wider.readingCommands ?? [],
      'a conversation without an approved plan cannot run',
    ],
    ['standing', wider.standing?.map(standingText) ?? [], 'nothing is approved by'],
  ]
  return reasons
    .filter(([, names]) => names.length > 0)
    .map(([key, names, meanwhile]) => ({
      code: 'untrusted_settings',
      file: SETTINGS_FILE,
      line: settings.lines.get(key) ?? null,
      message: `${key}: ${since}, so ${meanwhile} ${names.join(', ')}. Look at it, and trust it with casefile doctor --trust`,
    }))
}

function moved(settings: Settings, { root, memoryRoot }: TrustedSettingsDeps): Problem[] {
  if (memoryRoot === null || resolve(root, settings.memoryRoot ?? 'memory') === memoryRoot)
    return []
  const wanted = settings.memoryRoot ?? 'memory'
  const message = `memory_root: it is ${JSON.stringify(wanted)} now, and what was there at the start is served on: restart the service to move it`
  const line = settings.lines.get('memory_root') ?? null
  return [{ code: 'bad_settings', file: SETTINGS_FILE, line, message }]
}

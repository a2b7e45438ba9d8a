import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path'
import { NO_LONGER } from '../model/restrictions.ts'
import type { ProviderSettings, SandboxSetting } from '../model/settings.ts'
import { standingText } from '../model/standing.ts'
import { visibleText } from '../model/visible-text.ts'
import type { ReadFile } from '../sessions/start-checks.ts'
import type { Offer } from './offer.ts'

/** Everything that would be trusted, in full, as lines for a terminal. */
export function offerText({
  providers,
  env,
  notify,
  cache = [],
  sandbox,
  readingTools = [],
  readingCommands = [],
  standing = [],
  removed,
  folders,
  files,
}: Offer): string {
  const parts = [
    section(
      'Restrictions removed from casefile.md (possibly by a run)',
      removed.map(
        ({ key, names }) => `  ${key}: no longer ${NO_LONGER[key](names.map(word).join(', '))}`,
      ),
    ),
    section(
      'Providers: programs that sessions run as you, to plan without asking first',
      [...providers].flatMap(([name, provider]) => [
        `  ${visibleText(name)}: ${kindOf(provider)}`,
        ...commandsOf(provider).map((line) => `    ${line}`),
      ]),
    ),
    section(
      'Environment variables of the service that steps and agents get',
      env.map((name) => `  ${visibleText(name)}`),
    ),
    section(
      'Addresses that are sent the titles of cases, and what waits in them',
      notify.map(({ kind, url }) => `  ${kind}: ${word(url)}`),
    ),
    section(
      'Folders that runs may write to, in place of the usual caches',
      cache.map((path) => `  ${word(path)}`),
    ),
    section('What runs can reach', sandbox === undefined ? [] : sandboxLines(sandbox)),
    section(
      'Tools of agents in a terminal that count as reading, so they need no approved plan',
      readingTools.map((name) => `  ${word(name)}`),
    ),
    section(
      'Commands that such agents may run without an approved plan',
      readingCommands.map((line) => `  ${visibleText(line)}`),
    ),
    section(
      'Standing intents: what agents do within one needs no approval of yours',
      standing.map((each) => `  ${visibleText(standingText(each))}`),
    ),
    section(
      'Folders outside of the workspace that sessions work in',
      folders.flatMap(({ folder, cases }) => [
        `  ${word(folder)}`,
        ...cases.map(({ id, title, workdir }) => {
          return `    case ${id} ${quoted(title)}, workdir ${quoted(workdir)}`
        }),
      ]),
    ),
    section(
      'Files of the project that agents act on by themselves: programs they start, addresses they send to',
      files.flatMap(fileLines),
    ),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function sandboxLines(sandbox: Exclude<SandboxSetting, 'mounts'>): string[] {
  if (sandbox === 'none') {
    return [
      '  sandbox: none: what you approve runs as you, and can write and read whatever you can',
    ]
  }
  return [`  on the network only: ${sandbox.hosts.map(word).join(', ')}`]
}

/** Longer files are cut here; the operator should open them in an editor. */
const MAX_LINES = 200
const MAX_CHARACTERS = 20_000

function fileLines({ path, agents, content, why }: ReadFile): string[] {
  const readers = `read by ${agents.join(', ')}`
  if (content === null) return [`  ${word(path)}: cannot be trusted: ${visibleText(why)}`]
  const { bytes, sha256 } = content
  const head = `  ${word(path)}: ${readers}`
  if (!isUtf8(bytes) || bytes.includes(0)) {
    return [head, `    ${bytes.length} bytes of binary data, SHA-256 ${sha256}`]
  }
  const text = bytes.toString()
  const shown = basename(path) === '.env' ? variablesIn(text) : text
  const lines = shown.slice(0, MAX_CHARACTERS).trimEnd().split('\n')
  const rest = shown.length > MAX_CHARACTERS || lines.length > MAX_LINES
  const last = rest ? [`    … and more: open the file to see all of its ${bytes.length} bytes`] : []
  return [head, ...lines.slice(0, MAX_LINES).map((line) => `    ${visibleText(line)}`), ...last]
}

/** The names of the variables it sets. The values are secrets, and other lines may be parts of one. */
function variablesIn(text: string): string {
  const names = [...text.matchAll(/^[ \t]*((?:export[ \t]+)?[\w.-]+)[ \t]*[=:]/gm)]
  return names.map(([, name]) => `${name}=…`).join('\n')
}

function section(title: string, lines: string[]): string {
  return lines.length === 0 ? '' : [`${title}:`, ...lines, ''].join('\n')
}

function kindOf(provider: ProviderSettings): string {
  switch (provider.kind) {
    case 'command':
      return `a command, which gets its prompt by ${provider.prompt}`
    case 'acp':
      return 'an agent that speaks ACP'
    case 'preset':
      return `the preset ${visibleText(provider.preset)}`
  }
}

function commandsOf(provider: ProviderSettings): string[] {
  switch (provider.kind) {
    case 'command':
      return [
        `plan     ${command(provider.plan)}`,
        ...(provider.work === null ? [] : [`work     ${command(provider.work)}`]),
      ]
    case 'acp':
      return [
        `command  ${command(provider.command)}`,
        ...(provider.planMode === null ? [] : [`plan     in mode ${quoted(provider.planMode)}`]),
        ...(provider.workMode === null ? [] : [`work     in mode ${quoted(provider.workMode)}`]),
      ]
    case 'preset':
      return provider.args.length === 0 ? [] : [`with     ${command(provider.args)}`]
  }
}

function command(words: readonly string[]): string {
  return words.map(word).join(' ')
}

/** Quotes a word that could be mistaken for several words. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text)
}

function quoted(text: string): string {
  return visibleText(JSON.stringify(text))
}

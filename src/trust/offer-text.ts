import type { ProviderSettings } from '../model/settings.ts'
import { visibleText } from '../workspace/visible-text.ts'
import type { Offer } from './offer.ts'

/** What would be trusted, whole and with nothing hidden, as lines for a terminal. */
export function offerText({ providers, env, folders }: Offer): string {
  const parts = [
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
      'Folders outside of the workspace that sessions work in',
      folders.flatMap(({ folder, cases }) => [
        `  ${word(folder)}`,
        ...cases.map(({ id, title, workdir }) => {
          return `    case ${id} ${quoted(title)}, workdir ${quoted(workdir)}`
        }),
      ]),
    ),
  ]
  return parts.filter((part) => part !== '').join('\n')
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

/** Quoted wherever it could be taken for something else than one word. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text)
}

function quoted(text: string): string {
  return visibleText(JSON.stringify(text))
}

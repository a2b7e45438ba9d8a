/** Turns an event into what ntfy, Slack, another program or the desktop shows: title and counts, and a link. */

import type { EventFields } from '../model/events.ts'
import { type NotifyKind, variablesIn } from '../model/settings.ts'
import { visibleText } from '../model/visible-text.ts'
import type { WaitingKind } from '../model/waiting.ts'

/** The notifications. They offer no way to approve anything. */
export interface Notification {
  title: string
  text: string
  kind: WaitingKind | 'test'
  /** The name of its folder. */
  workspace: string
  /** The branch of the working folder; null if it has none. */
  branch: string | null
  /** The page of the service. */
  link: string
}

export interface Rendered {
  headers: Record<string, string>
  body: string
}

/** By ntfy's contract: https://docs.ntfy.sh/publish/ */
const NTFY: Readonly<Record<Notification['kind'], { priority: string; tags: string }>> = {
  plan: { priority: 'high', tags: 'memo' },
  question: { priority: 'high', tags: 'question' },
  failed: { priority: 'default', tags: 'x' },
  proof: { priority: 'default', tags: 'mag' },
  test: { priority: 'default', tags: 'bell' },
}

const MAX_TITLE = 200

export function notificationOf(
  payload: EventFields<'attention_needed'>,
  { workspace, branch }: Pick<Notification, 'workspace' | 'branch'>,
  base: string,
): Notification {
  const { case_id, kind, session } = payload
  const page = `${base}/case/${case_id}`
  return {
    title: oneLine(payload.title),
    text: oneLine(payload.text),
    kind,
    workspace: oneLine(workspace),
    branch: branch && oneLine(branch),
    link: session === null ? page : `${page}/session/${session}`,
  }
}

export function testNotification(workspace: string, base: string): Notification {
  return {
    title: 'Casefile',
    text: 'This is a test. Notifications arrive here.',
    kind: 'test',
    workspace: oneLine(workspace),
    branch: null,
    link: `${base}/`,
  }
}

/** What to send, by the kind of the receiver. */
export function render(kind: NotifyKind, shown: Notification): Rendered {
  const { title, link } = shown
  switch (kind) {
    case 'ntfy': {
      const { priority, tags } = NTFY[shown.kind]
      return {
        headers: {
          title: headerText(title),
          priority,
          tags,
          click: link,
          'content-type': 'text/plain; charset=utf-8',
        },
        body: withPlace(shown),
      }
    }
    case 'slack': {
      const text = `*<${link}|${escaped(title)}>*\n${escaped(withPlace(shown))}`
      const blocks = [{ type: 'section', text: { type: 'mrkdwn', text } }]
      const fallback = escaped(`${title}: ${withPlace(shown)}`)
      return json({ text: `${fallback} ${link}`, blocks })
    }
    default:
      return json(shown)
  }
}

export function withPlace({ text, workspace, branch }: Notification): string {
  return `${text} (${workspace}${branch === null ? '' : `, branch ${branch}`})`
}

/** The URL with the values of its variables; or the name of one that is not set. */
export function expandUrl(
  url: string,
  environment: NodeJS.ProcessEnv,
): { ok: true; url: string } | { ok: false; missing: string } {
  const missing = variablesIn(url).find((name) => !environment[name])
  if (missing !== undefined) return { ok: false, missing }
  return { ok: true, url: url.replace(VARIABLE, (_, name: string) => environment[name]!.trim()) }
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/** For lists: who knows the path of a Slack webhook or a topic of ntfy can write to it. */
export function shownUrl(url: string): string {
  const found = /^(https?:\/\/[^/?#$]+)([/?#$].*)?$/.exec(url)
  if (!found) return url // only variables
  const [, origin, rest = ''] = found
  if (!origin!.includes('@') && (rest === '' || rest === '/' || /^\/\$\{\w+\}$/.test(rest)))
    return url
  return `${origin!.replace(/(?<=^https?:)\/\/[^@]*@/, '//…@')}/…`
}

function json(value: object): Rendered {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) }
}

function oneLine(text: string): string {
  const line = visibleText(text.replace(/\s+/g, ' ')).trim()
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1).toWellFormed()}…` : line
}

/** Slack reads these three as its own; `<!channel>` in a title must notify no channel. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A header has ASCII only, so others are encoded as in mail (RFC 2047), which ntfy reads. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

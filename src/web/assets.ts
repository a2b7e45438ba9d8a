import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { etagOf } from '../http/etag.ts'
import { packageFile } from '../package-files.ts'

/** bundle.mjs builds them from src/web/client, src/web/style and the folders of the pages. */
const FOLDER = packageFile('dist/web/assets/')

/** A folder with a tick in it, and in its corner a mark that differs in shape, too. */
const ICONS: Readonly<Record<string, string>> = {
  'favicon.svg': '',
  'favicon-waits.svg':
    '<circle cx="24" cy="24" r="7.5" fill="#d97706" stroke="#fff" stroke-width="2"/>',
  'favicon-running.svg':
    '<path d="M17 15.5v16l14-8z" fill="#0e7f6d" stroke="#fff" stroke-width="2" stroke-linejoin="round"/>',
  'favicon-failed.svg':
    '<path d="m18 18 11 11m0-11L18 29" stroke="#fff" stroke-width="8" stroke-linecap="round"/><path d="m18 18 11 11m0-11L18 29" stroke="#c62f2f" stroke-width="4.5" stroke-linecap="round"/>',
  'favicon-other.svg':
    '<circle cx="25" cy="25" r="5" fill="#fff" stroke="#d97706" stroke-width="3"/>',
}

function iconWith(mark: string): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#3557d6" d="M3 8a3 3 0 0 1 3-3h7l3 3h10a3 3 0 0 1 3 3v13a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3z"/><path fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" d="m10.5 17.5 4 4 7.5-8"/>${mark}</svg>\n`,
  )
}

const TYPES: Record<string, string> = {
  'console.js': 'text/javascript; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
  ...Object.fromEntries(Object.keys(ICONS).map((name) => [name, 'image/svg+xml'])),
}

export interface Assets {
  /** The name of the workspace, which every page shows. */
  workspace: string
  /** The address of an asset; it changes with the content, so browsers may cache it forever. */
  href(name: string): string
  /** Whether the navigation leads to the agents in terminals. */
  hasAgents(): boolean
  /** Whether the navigation leads to the inbox, as other workspaces exist. */
  hasInbox(): boolean
  /** How many cases wait for the operator. */
  waiting(): number
  routes: Hono
}

/** What every page needs of them. */
export type PageAssets = Omit<Assets, 'routes'>

/** The script, the style sheet and the icon of the pages, read once. */
export function loadAssets(
  workspace: string,
  { hasAgents, hasInbox, waiting }: Pick<Assets, 'hasAgents' | 'hasInbox' | 'waiting'>,
): Assets {
  const files = new Map<string, Uint8Array>()
  for (const name of Object.keys(TYPES)) {
    const mark = ICONS[name]
    files.set(name, mark === undefined ? readFileSync(new URL(name, FOLDER)) : iconWith(mark))
  }
  const hashes = new Map([...files].map(([name, bytes]) => [name, hashOf(bytes)]))
  const routes = new Hono()
  for (const [name, bytes] of files) {
    routes.get(`/assets/${name}`, (c) => {
      const isCurrent = c.req.query('v') === hashes.get(name)
      return c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
        'content-type': TYPES[name]!,
        'cache-control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
        etag: etagOf(bytes),
      })
    })
  }
  return {
    workspace,
    hasAgents,
    hasInbox,
    waiting,
    href: (name) => `/assets/${name}?v=${hashes.get(name)}`,
    routes,
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12)
}

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { etagOf } from '../http/etag.ts'
import { packageFile } from '../package-files.ts'

/** bundle.mjs builds them from src/web/client and src/web/style. */
const FOLDER = packageFile('dist/web/assets/')

/** A folder with a tick in it. */
const FAVICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#3557d6" d="M3 8a3 3 0 0 1 3-3h7l3 3h10a3 3 0 0 1 3 3v13a3 3 0 0 1-3 3H6a3 3 0 0 1-3-3z"/><path fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" d="m10.5 17.5 4 4 7.5-8"/></svg>
`

const TYPES: Record<string, string> = {
  'console.js': 'text/javascript; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
  'favicon.svg': 'image/svg+xml',
}

export interface Assets {
  /** The name of the workspace, which every page shows. */
  workspace: string
  /** The address of an asset; it changes with the content, so browsers may cache it forever. */
  href(name: string): string
  /** Whether the navigation leads to the agents in terminals. */
  hasAgents(): boolean
  routes: Hono
}

/** What every page needs of them. */
export type PageAssets = Omit<Assets, 'routes'>

/** The script, the style sheet and the icon of the pages, read once. */
export function loadAssets(workspace: string, hasAgents: () => boolean): Assets {
  const files = new Map<string, Uint8Array>()
  for (const name of Object.keys(TYPES)) {
    files.set(
      name,
      name === 'favicon.svg' ? Buffer.from(FAVICON) : readFileSync(new URL(name, FOLDER)),
    )
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
    href: (name) => `/assets/${name}?v=${hashes.get(name)}`,
    routes,
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12)
}

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { etagOf } from '../http/etag.ts'
import { packageFile } from '../package-files.ts'
import { FAVICON } from './shell/favicon.ts'

/** Made by the build from src/web/client and src/web/style. */
const FOLDER = packageFile('dist/web/assets/')

const TYPES: Record<string, string> = {
  'console.js': 'text/javascript; charset=utf-8',
  'console.css': 'text/css; charset=utf-8',
  'favicon.svg': 'image/svg+xml',
}

export interface Assets {
  /** The name of the workspace, which every page shows. */
  workspace: string
  /** The address of an asset; it changes with its content, so that it may be kept for good. */
  href(name: string): string
  routes: Hono
}

/** The script, the style sheet and the icon of the pages, read once. */
export function loadAssets(workspace: string): Assets {
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
    href: (name) => `/assets/${name}?v=${hashes.get(name)}`,
    routes,
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12)
}

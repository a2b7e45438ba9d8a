import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import {
  findViolations,
  MAY_START_PROGRAMS,
  MAY_TOUCH_FILES,
  type Rule,
  type Tree,
} from './fixtures/house-rules.ts'

const src = fileURLToPath(new URL('../src/', import.meta.url))

function readTree(folder: string): Tree {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return Object.fromEntries(
    files.map((file) => [relative(folder, file).split(sep).join('/'), readFileSync(file, 'utf8')]),
  )
}

t.test('the source keeps the rules of the house', async (t) => {
  const tree = readTree(src)
  const violations = findViolations(tree)
  const promises: Record<Rule, string> = {
    layers: 'a file imports only from its own layer and the layers before it',
    packages: 'the model imports nothing but zod: no other package, and not node:',
    files: 'only the folders that keep files touch them, and the exceptions with a reason',
    platform: 'only platform/ knows which system this is, and reads below /proc',
    programs: 'only the files with a reason start programs, and none by its name alone',
    cycles: 'no two files import each other, by whatever way round',
    barrels: 'no index.ts, no export *, no file that only re-exports',
    size: 'no file is longer than 250 lines',
    names: 'no folder or file is a utils, helpers, common or lib',
  }

  t.test('the tree was really read', async (t) => {
    t.match(Object.keys(tree), /model\/app-error\.ts/)
    t.ok(tree['model/app-error.ts']?.includes('class AppError'))
  })
  for (const [rule, promise] of Object.entries(promises)) {
    t.test(promise, async (t) => {
      t.strictSame(
        violations.filter((found) => found.rule === rule).map((v) => `${v.place} ${v.message}`),
        [],
      )
    })
  }
  t.test('every exception for starting programs is for a file that starts some', async (t) => {
    for (const file of Object.keys(MAY_START_PROGRAMS))
      t.match(tree[file], /node:child_process/, file)
  })
  t.test('every exception for file access is for something that exists', async (t) => {
    for (const place of Object.keys(MAY_TOUCH_FILES)) {
      t.ok(
        Object.keys(tree).some((file) => file.startsWith(place)),
        place,
      )
    }
  })
})

const bad: { name: string; tree: Tree; found: string[] }[] = [
  {
    name: 'a layer imports from one above it',
    tree: {
      'model/case.ts': "import { write } from '../workspace/store.ts'\n",
      'workspace/store.ts': 'export const write = 1\n',
    },
    found: ['layers model/case.ts:1'],
  },
  {
    name: 'a type is an import too',
    tree: {
      'events/bus.ts': "\nimport type { App } from '../http/app.ts'\n",
      'http/app.ts': 'export interface App {}\n',
    },
    found: ['layers events/bus.ts:2'],
  },
  {
    name: 'so is import() as a type, as a call, and a re-export',
    tree: {
      'model/a.ts': "export type A = import('../web/page.tsx').Page\n",
      'markdown/b.ts': "export const b = () => import('../web/page.tsx')\n",
      'sessions/c.ts': "export const c = 1\nexport { type Page } from '../web/page.tsx'\n",
      'web/page.tsx': 'export type Page = string\nexport const page = <p>hello</p>\n',
    },
    found: ['layers model/a.ts:1', 'layers markdown/b.ts:1', 'layers sessions/c.ts:2'],
  },
  {
    name: 'and a worker, by the name it has after the build',
    tree: {
      'markdown/pool.ts': "export const at = new URL('../runners/worker.js', import.meta.url)\n",
      'runners/worker.ts': 'export const work = 1\n',
    },
    found: ['layers markdown/pool.ts:1'],
  },
  {
    name: 'what is imported cannot be told',
    tree: { 'events/x.ts': 'export const load = (name: string) => import(name)\n' },
    found: ['layers events/x.ts:1'],
  },
  {
    name: 'an import leaves src, or leads nowhere',
    tree: {
      'cli.ts': "import '../package.json'\nimport './gone.ts'\n",
    },
    found: ['layers cli.ts:1', 'layers cli.ts:2'],
  },
  {
    name: 'a folder is in no layer',
    tree: { 'extras/x.ts': 'export const x = 1\n' },
    found: ['layers extras/x.ts'],
  },
  {
    name: 'the parts put together are used from below',
    tree: {
      'http/app.ts': "import { service } from '../service.ts'\nservice()\n",
      'service.ts': "import { run } from './cli.ts'\nexport const service = run\n",
      'cli.ts': 'export const run = () => 1\n',
    },
    found: ['layers http/app.ts:1', 'layers service.ts:1'],
  },
  {
    name: 'the model imports a package or node:',
    tree: {
      'model/a.ts': "import { createHash } from 'node:crypto'\nexport const a = createHash\n",
      'model/b.ts': "import type { Root } from 'mdast'\nexport type B = Root\n",
    },
    found: ['packages model/a.ts:1', 'packages model/b.ts:1'],
  },
  {
    name: 'files are touched outside the workspace',
    tree: {
      'markdown/a.ts': "import fs from 'node:fs'\nexport const a = fs\n",
      'http/b.ts': "export const b = await import('fs/promises')\n",
      'runners/c.ts': "import { open } from 'node:fs/promises'\nexport const c = open\n",
      'events/d.ts': "import { lock } from 'proper-lockfile'\nexport const d = lock\n",
      'workspace/e.ts': "import fs from 'node:fs'\nexport const e = fs\n",
      'platform/proc.ts': "import fs from 'node:fs'\nexport const proc = fs\n",
      'demo/f.ts': "import fs from 'node:fs'\nexport const f = fs\n",
    },
    found: [
      'files markdown/a.ts:1',
      'files http/b.ts:1',
      'files runners/c.ts:1',
      'files events/d.ts:1',
    ],
  },
  {
    name: 'the system is asked for outside platform/',
    tree: {
      'platform/proc.ts': "export const folder = '/proc'\n",
      'files/a.ts': "import '../platform/proc.ts'\nexport const own = '/proc/self/fd'\n",
      'runners/b.ts': "export const isLinux = process.platform === 'linux'\n",
    },
    found: ['platform files/a.ts:2', 'platform runners/b.ts:1'],
  },
  {
    name: 'a program is started elsewhere, or by its name',
    tree: {
      'sessions/a.ts': "import { spawn } from 'node:child_process'\nexport const a = spawn\n",
      'build.ts': "import { execFile } from 'node:child_process'\n\nexecFile('git', [])\n",
      'cli/editor.ts': "import { spawn } from 'node:child_process'\nspawn('/bin/sh', [])\n",
    },
    found: ['programs sessions/a.ts:1', 'programs build.ts:3'],
  },
  {
    name: 'two files import each other, the one for a type only',
    tree: {
      'model/a.ts': "import { b } from './b.ts'\nexport const a = b\nexport type A = number\n",
      'model/b.ts': "import type { A } from './a.ts'\nexport const b: A = 1\n",
    },
    found: ['cycles model/a.ts'],
  },
  {
    name: 'three files import each other, and a worker that only starts one does not count',
    tree: {
      'events/a.ts': "import './b.ts'\nexport const a = 1\n",
      'events/b.ts': "import './c.ts'\nexport const b = 1\n",
      'events/c.ts': "import './a.ts'\nexport const c = 1\n",
      'http/main.ts': "export const at = new URL('./worker.ts', import.meta.url)\n",
      'http/worker.ts': "import { at } from './main.ts'\nexport const w = at\n",
    },
    found: ['cycles events/a.ts'],
  },
  {
    name: 'a file is a barrel',
    tree: {
      'model/index.ts': 'export const x = 1\n',
      'model/stars.ts': "export * from './index.ts'\nexport const y = 1\n",
      'model/names.ts': "export * as names from './stars.ts'\nexport const z = 1\n",
      'model/all.ts': "export { x } from './index.ts'\n",
      'model/sly.ts': "import { x } from './index.ts'\nexport { x }\n",
    },
    found: [
      'barrels model/index.ts',
      'barrels model/stars.ts:1',
      'barrels model/names.ts:1',
      'barrels model/all.ts',
      'barrels model/sly.ts',
    ],
  },
  {
    name: 'a file has 251 lines, another 250',
    tree: { 'web/long.ts': '//\n'.repeat(401), 'web/fits.ts': '//\n'.repeat(400) },
    found: ['size web/long.ts'],
  },
  {
    name: 'a name says nothing',
    tree: {
      'http/utils/x.ts': 'export const x = 1\n',
      'web/lib/deep/y.ts': 'export const y = 1\n',
      'model/helpers.ts': 'export const z = 1\n',
      'common/z.ts': 'export const z = 1\n',
    },
    found: [
      'names http/utils/x.ts',
      'names web/lib/deep/y.ts',
      'names model/helpers.ts',
      'layers common/z.ts',
      'names common/z.ts',
    ],
  },
]

t.test('the checker finds it when', async (t) => {
  for (const { name, tree, found } of bad) {
    t.test(name, async (t) => {
      t.strictSame(
        findViolations(tree).map(({ rule, place }) => `${rule} ${place}`),
        found,
      )
    })
  }
})

t.test('the checker has nothing to say about a good tree', async (t) => {
  const tree = {
    'model/case.ts':
      "// import fs from 'node:fs'\nexport const text = \"import x from '../cli.ts'\"\n",
    'markdown/parse.ts':
      "import { text } from '../model/case.ts'\nexport const parse = () => text\n",
    'workspace/store.ts':
      "import { readFile } from 'node:fs/promises'\nexport const s = readFile\n",
    'http/app.ts':
      "import { s } from '../workspace/store.ts'\nexport { parse } from '../markdown/parse.ts'\nexport const app = s\n",
    'service.ts': "import { app } from './http/app.ts'\nexport const service = app\n",
    'demo/tour.ts': "import { service } from '../service.ts'\nexport const tour = service\n",
    'cli.ts': "const tour = await import('./demo/tour.ts')\ntour.tour\n",
  }
  t.strictSame(findViolations(tree), [])
})

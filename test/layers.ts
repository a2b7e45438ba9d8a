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
import { filesBelow } from './fixtures/paths-below.ts'

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

t.test('the style sheets have one scale: five spaces, two radii, three widths', async (t) => {
  const sheets = [...filesBelow(join(src, 'web'))].filter(({ path }) => path.endsWith('.css'))
  const values = (text: string, property: RegExp) =>
    [...text.matchAll(/^ +([\w-]+): ([^;{]+);/gm)].filter(([, name]) => property.test(name!))
  const widths = new Set<string>()
  const tokens = new Set<string>()
  const others: string[] = []
  for (const { path, bytes } of sheets) {
    const text = bytes.toString()
    for (const [width] of text.matchAll(/(?<=\bwidth (?:<|>=) )[^)]+/g)) widths.add(width)
    for (const [, token] of text.matchAll(/^ +--((?:space|radius)[\w-]*): /gm)) tokens.add(token!)
    const found = [
      // what is wider than the widest space makes room for something, such as line numbers
      ...values(text, /^(padding|margin|(row-|column-)?gap)/).filter(([, , value]) =>
        /(?<![\d.])(0?\.\d+|1|1\.[0-5]\d*)rem/.test(value!),
      ),
      ...values(text, /^border.*radius$/).filter(([, , value]) => /\d[a-z%]/.test(value!)),
      ...values(text, /^font(-size)?$/).filter(([, , value]) => /\d\.\d+rem(?! var)/.test(value!)),
      ...text.matchAll(/\((?:min|max)-width[^)]*\)/g),
    ]
    others.push(...found.map(([place]) => `${relative(src, path)}: ${place.trim()}`))
  }
  t.strictSame(others, [], 'each is one of style/tokens.css')
  t.equal(tokens.size, 7)
  t.ok(widths.size <= 3, [...widths].join())
})

const bad: { name: string; tree: Tree; found: string[] }[] = [
  {
    name: 'a layer imports from one above it, also a type or by import()',
    tree: {
      'events/bus.ts': "\nimport type { App } from '../http/app.ts'\n",
      'markdown/b.ts': "export const b = () => import('../http/app.ts')\n",
      'http/app.ts': 'export interface App {}\n',
    },
    found: ['layers events/bus.ts:2', 'layers markdown/b.ts:1'],
  },
  {
    name: 'a worker is one too, by the name it has after the build',
    tree: {
      'markdown/pool.ts': "export const at = new URL('../runners/worker.js', import.meta.url)\n",
      'runners/worker.ts': 'export const work = 1\n',
    },
    found: ['layers markdown/pool.ts:1'],
  },
  {
    name: 'the service imports what runs in the browser, or a page what runs on another page',
    tree: {
      'web/list/page.tsx': "import './client.ts'\n",
      'web/list/client.ts': "import './client/sync.ts'\nimport '../log/client/lines.ts'\n",
      'web/list/client/sync.ts': "import '../../client/send.ts'\n",
      'web/log/client/lines.ts': 'export const lines = 1\n',
      'web/client/send.ts': 'export const send = 1\n',
      'web/client/main.ts': "import '../list/client.ts'\n",
    },
    found: [
      'layers web/client/main.ts:1',
      'layers web/list/client.ts:2',
      'layers web/list/page.tsx:1',
    ],
  },
  {
    name: 'the model imports a package, files are touched or programs started elsewhere',
    tree: {
      'model/a.ts': "import { createHash } from 'node:crypto'\nexport const a = createHash\n",
      'markdown/a.ts': "import fs from 'node:fs'\nexport const a = fs\n",
      'sessions/a.ts': "import { spawn } from 'node:child_process'\nexport const a = spawn\n",
      'runners/b.ts': "export const isLinux = process.platform === 'linux'\n",
    },
    found: [
      'packages model/a.ts:1',
      'files markdown/a.ts:1',
      'programs sessions/a.ts:1',
      'platform runners/b.ts:1',
    ],
  },
  {
    name: 'files import each other, are barrels, too long, or have names that say nothing',
    tree: {
      'events/a.ts': "import './b.ts'\nexport const a = 1\n",
      'events/b.ts': "import './a.ts'\nexport const b = 1\n",
      'model/stars.ts': "export * from './case.ts'\nexport const y = 1\n",
      'model/case.ts': 'export const x = 1\n',
      'web/long.ts': '//\n'.repeat(401),
      'web/fits.ts': '//\n'.repeat(400),
      'http/utils/x.ts': 'export const x = 1\n',
    },
    found: [
      'barrels model/stars.ts:1',
      'size web/long.ts',
      'names http/utils/x.ts',
      'cycles events/a.ts',
    ],
  },
]

t.test('the checker finds it when', async (t) => {
  for (const { name, tree, found } of bad) {
    t.test(name, async (t) => {
      t.strictSame(
        findViolations(tree)
          .map(({ rule, place }) => `${rule} ${place}`)
          .sort(),
        found.toSorted(),
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

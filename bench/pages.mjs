import { gzipSync } from 'node:zlib'
import { startCasefile } from './casefile.mjs'
import { launchBrowser } from './pages-browser.mjs'
import { servePlain } from './pages-plain.mjs'
import { measureScroll } from './pages-scroll.mjs'
import { measureUpdates } from './pages-updates.mjs'
import { quantile, visit } from './pages-visit.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Browser } from 'playwright-core' */
/** @import { Goal, Row, Suite } from './suite.mjs' */

const SEED = 20261122
const VISITS = 7

/** @typedef {{ name: string, path: string, weight: number }} Kind */

/**
 * What the pages weigh, how soon they can be used, and how soon they show a change.
 * @type {Suite}
 */
export const pagesSuite = {
  sizes: [1000, 10_000],
  limits: {
    'its words':
      'a page of the same text and nothing else in one `<pre>`, from a Node server that has it ready; shown by the same browser, in turns',
    gzip: 'the same bytes after `gzip -9`; the service listens on this machine alone and does not compress',
    told: 'the arrival of the event at an `EventSource` in the same page',
    '60 Hz': 'a screen that shows 60 pictures a second',
  },
  async *measure(size, { program, parent, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: SEED })
    onEnd(workspace.remove)
    say(`Casefile is started on ${size} cases`)
    const stateDir = workspace.newStateDir()
    const casefile = await startCasefile({ program, root: workspace.root, stateDir, onEnd })
    const browser = await launchBrowser()
    onEnd(() => browser.close())
    const on = `${size.toLocaleString('en')} cases`
    const [id] = /** @type {[string]} */ (workspace.ids)
    const isFirst = size === pagesSuite.sizes[0]
    if (isFirst) yield* await assetRows(casefile.url)
    /** @type {Kind[]} */
    const kinds = [
      { name: 'the list', path: '/', weight: 150 },
      ...(isFirst
        ? [
            { name: 'a case', path: `/case/${id}`, weight: 60 },
            { name: 'a session', path: `/case/${id}/session/1`, weight: 60 },
          ]
        : []),
    ]
    for (const kind of kinds) {
      say(`${kind.name} is visited`)
      yield* await visitRows(browser, casefile.url, kind, kind.path === '/' ? on : 'one')
    }
    say('the list is scrolled, and changed')
    yield* await liveRows(browser, casefile.url, on)
    await browser.close()
    await casefile.stop('SIGKILL')
    workspace.remove()
  },
}

/** @type {(url: string) => Promise<Row[]>} */
async function assetRows(url) {
  const page = await (await fetch(url)).text()
  const wanted = /** @type {const} */ ([
    ['the script', 'console.js', 100],
    ['the style sheet', 'console.css', 60],
  ])
  return Promise.all(
    wanted.map(async ([what, name, most]) => {
      const address = new RegExp(`/assets/${name}[^"]*`).exec(page)?.[0]
      if (!address) throw new Error(`the page names no ${name}`)
      const bytes = Buffer.from(await (await fetch(url + address)).arrayBuffer())
      const limit = gzipSync(bytes, { level: 9 }).length
      return row(what, 'every page', 'kilobytes', bytes.length, 'gzip', limit, {
        value: most * 1024,
      })
    }),
  )
}

/** @type {(browser: Browser, url: string, kind: Kind, on: string) => Promise<Row[]>} */
async function visitRows(browser, url, { name, path, weight }, on) {
  const html = await (await fetch(url + path)).text()
  let words = ''
  await visit(browser, url + path, async (page) => {
    words = await page.locator('body').innerText()
  })
  const plain = await servePlain(words)
  const times = []
  const plainTimes = []
  try {
    for (let count = 0; count < VISITS; count++) {
      times.push(await visit(browser, url + path))
      plainTimes.push(await visit(browser, plain.url))
    }
  } finally {
    plain.close()
  }
  /** @type {(what: string, key: 'paint' | 'interactive', goal: Goal) => Row} */
  const time = (what, key, goal) => {
    const [ours, least] = [times, plainTimes].map((all) => quantile(all.map((each) => each[key])))
    return row(`${name}: ${what}`, on, 'ms', Number(ours), 'its words', Number(least), goal)
  }
  const bytes = Buffer.byteLength(html)
  const goal = { value: weight * 1024 }
  return [
    row(`${name}: HTML`, on, 'kilobytes', bytes, 'its words', plain.bytes, goal),
    time('first paint', 'paint', { value: 500 }),
    time('interactive', 'interactive', { value: 500 }),
  ]
}

/** @type {(browser: Browser, url: string, on: string) => Promise<Row[]>} */
async function liveRows(browser, url, on) {
  /** @type {Row[]} */
  const rows = []
  await visit(browser, url, async (page) => {
    const first = await page.locator('main a[href^="/case/"]').first().getAttribute('href')
    const { shown, told } = await measureUpdates(page, url, String(first?.split('/')[2]))
    for (const [name, part, value] of /** @type {const} */ ([
      ['p50', 0.5, 500],
      ['p99', 0.99, 1000],
    ])) {
      const limit = quantile(told, part)
      const what = `PUT title → the list shows it, ${name}`
      rows.push(row(what, on, 'ms', quantile(shown, part), 'told', limit, { value }))
    }
    const frames = await measureScroll(page)
    const what = `scrolling all of it: a picture each, p99`
    rows.push(row(what, on, 'ms', quantile(frames, 0.99), '60 Hz', 1000 / 60, { value: 50 }))
  })
  return rows
}

/** @type {(what: string, work: string, unit: Row['unit'], ours: number, beside: string, limit: number, goal: Goal) => Row} */
function row(what, work, unit, ours, beside, limit, goal) {
  return { what, work, unit, ours, beside, limit, goal }
}

/**
 * Takes docs/images/flow.gif, the animated picture of the README: a plan, a comment, another plan, its run, its proof.
 * Part of `npm run screenshots`. A page of its own draws the frame around each screenshot: caption and pointer.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import gifenc from 'gifenc'
import pngjs from 'pngjs'
import { startChild } from '../../bench/processes.mjs'

/** @import { Browser, Locator, Page } from 'playwright-core' */
/** @typedef {{ pixels: Buffer, ms: number }} Frame */

const SIZE = { width: 1080, height: 740 }
const CAPTION_HEIGHT = 52
const HEIGHT = SIZE.height + CAPTION_HEIGHT
const TITLE = 'Signed out right after signing in'
const LONGEST_STILL_MS = 800
const { GIFEncoder, applyPalette, quantize } = gifenc

/** Plans twice, and changes one line of the sample. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
const file = 'src/token.js'
const prompt = readFileSync(0, 'utf8')
if (process.argv[2] === 'plan') {
  await delay(1200)
  const isSentBack = prompt.includes('does not approve it as it is')
  const steps = isSentBack
    ? ['Leave \`issueToken\` as it is: tokens keep seconds.', 'Let \`hasExpired\` convert the clock to seconds.']
    : ['Let \`issueToken\` write \`iat\` and \`exp\` in milliseconds.', 'Leave \`hasExpired\` as it is.']
  console.log('## Hypothesis\\n\\nA token counts seconds, and the clock counts milliseconds.\\n\\n## Plan\\n')
  steps.forEach((step, index) => console.log(\`\${index + 1}. \${step}\`))
  console.log('\\nThen run every test:\\n\\n\`\`\`sh run id=test timeout=1m proof=tap\\nnpm test --silent\\n\`\`\`')
} else {
  const say = async (text) => { console.log(text); await delay(700) }
  await say('Reading ' + file)
  await say('hasExpired compares claims.exp with milliseconds.')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('claims.exp <= now', 'claims.exp <= Math.floor(now / 1000)'))
  await say('Changed 1 line of ' + file)
}
`

const STAGE = `<style>
  body { margin: 0; position: relative; width: ${SIZE.width}px; height: ${HEIGHT}px; overflow: hidden }
  #caption { height: ${CAPTION_HEIGHT}px; box-sizing: border-box; padding: 0 18px; background: #1c2333;
    color: #fff; font: 600 23px/${CAPTION_HEIGHT}px 'DejaVu Sans', sans-serif }
  #chapter { display: inline-block; width: 32px; margin-right: 14px; border-radius: 50%; background: #f59e0b;
    color: #1c2333; font-size: 19px; line-height: 32px; text-align: center }
  img { display: block; width: ${SIZE.width}px; height: ${SIZE.height}px }
  #pointer { position: absolute; width: 22px; height: 30px }
  #click { position: absolute; width: 34px; height: 34px; margin: -17px 0 0 -17px; border-radius: 50%;
    background: #f59e0b88; border: 2px solid #b45309; box-sizing: border-box }
</style><div id=caption><span id=chapter></span><span id=words></span></div><img><div id=click></div>
<svg id=pointer viewBox="0 0 22 30"><path d="M2 2v22l5.5-5 3.6 8.6 4-1.7L11.5 17.500h7.500z" fill="#111" stroke="#fff" stroke-width="1.800"/></svg>`

/** @type {(options: { browser: Browser, program: string, home: string, to: string }) => Promise<void>} */
export async function takeFlow({ browser, program, home, to }) {
  const { root, service } = await serveWorkspace(program, home)
  try {
    const { found } = await service.line(/^Casefile is listening on (http:\S+)$/m)
    const context = await browser.newContext({
      viewport: SIZE,
      colorScheme: 'light',
      locale: 'en-GB',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
    })
    const page = await context.newPage()
    const stage = await (
      await browser.newContext({ viewport: { ...SIZE, height: HEIGHT } })
    ).newPage()
    await stage.setContent(STAGE)
    const camera = createCamera(page, stage)
    await playFlow(page, camera, String(found[1]))
    writeFileSync(join(to, 'flow.gif'), encode(camera.frames))
  } finally {
    await service.stop('SIGKILL')
    rmSync(root, { recursive: true, force: true })
  }
}

/** @type {(program: string, home: string) => Promise<any>} */
async function serveWorkspace(program, home) {
  const root = join(home, 'sign-in')
  const state = join(home, 'flow-state')
  mkdirSync(home, { recursive: true })
  const run = (/** @type {string[]} */ ...args) =>
    execFileSync(process.execPath, [program, ...args], {
      cwd: root,
      env: { ...process.env, CASEFILE_STATE_DIR: state },
      stdio: 'ignore',
    })
  execFileSync(process.execPath, [program, 'sample', root], { stdio: 'ignore' })
  rmSync(join(root, 'memory/cases/c12d54ae-1933-4631-a05f-aecf75428827'), { recursive: true })
  const agent = join(home, 'flow-agent.mjs')
  writeFileSync(agent, AGENT)
  const settings = join(root, 'casefile.md')
  const provider = `provider: scripted-agent
providers:
  scripted-agent: { kind: command, plan: [node, ${agent}, plan], work: [node, ${agent}, work] }`
  writeFileSync(
    settings,
    readFileSync(settings, 'utf8').replace(/^provider: .*$/m, () => provider),
  )
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  execFileSync('git', [...identity, 'commit', '--quiet', '--all', '--message=Start'], { cwd: root })
  execFileSync('git', ['config', 'user.name', 'Ada'], { cwd: root })
  run('doctor', '--trust', '--yes')
  const about = 'Each token has expired as soon as it is issued.'
  run('new', TITLE, '--type', 'bug', '--description', about)
  run('prove', 'require', 'right after', 'All tests pass', '--type', 'test-log')
  run('start', 'right after')
  const service = startChild([
    ...[program, 'serve', '--root', root, '--state-dir', state, '--port', '0'],
  ])
  return { root, service }
}

/** @type {(page: Page, camera: ReturnType<typeof createCamera>, url: string) => Promise<void>} */
async function playFlow(page, camera, url) {
  const { show, click, type } = camera
  const cases = await (await fetch(`${url}/cases`)).json()
  const { id } = cases.find((/** @type {any} */ each) => each.title.includes('right after'))
  const live = () => page.locator('#live[data-connection=live]').waitFor({ state: 'attached' })
  await page.goto(`${url}/case/${id}/session/1`)
  await live()
  await show('An agent wrote a plan. Nothing has run yet.', 2400)

  await page.locator('#plan li').first().hover()
  await click(page.getByRole('button', { name: 'Comment on line 1' }), 'Comment on a line.')
  await page.locator(':focus').evaluate((box) => box.scrollIntoView({ block: 'center' }))
  await type('Tokens keep seconds (RFC 7519).')
  await click(page.getByRole('button', { name: 'Add comment' }))
  await show(null, 700)
  await click(
    page.getByRole('button', { name: 'Request changes (1)' }),
    'Request changes. The agent plans again.',
  )
  await click(page.getByRole('button', { name: 'Send 1 comment' }))
  await page.evaluate(() => scrollTo(0, 0))
  await show(null, 800)
  await page.getByText('convert the clock').first().waitFor()
  await page.evaluate(() => scrollTo(0, 0))
  await show(null, 1000)

  await click(page.getByRole('link', { name: 'Review the changes' }), 'Review what changed.')
  await show(null, 2200)
  await click(page.getByRole('link', { name: 'Read the whole plan to approve it' }))
  await click(page.getByRole('button', { name: /^Approve/ }).first(), 'Approve exactly this text.')
  await show('Casefile runs it, and records every step.', 350)
  for (let shots = 0; shots < 200; shots++) {
    if ((await page.getByText('All 23 passed').count()) > 0) break
    await delay(150)
    await show(null, 300)
  }
  await page.waitForLoadState('networkidle')
  await show('All tests pass. Attach their report as proof.', 2000)
  await page.evaluate(() => scrollTo(0, 0))
  await click(page.getByRole('button', { name: /^Attach 1-test\.tap/ }).first())
  await page.waitForURL(/\/proof\//)
  await live()
  await show(null, 800)
  await click(
    page.getByRole('button', { name: /^Verify/ }).first(),
    'Read the proof, and verify it.',
  )
  await show(null, 900)
  await click(
    page.getByRole('link', { name: 'Resolve' }).first(),
    'Only now can the case be resolved.',
  )
  await live()
  await click(page.locator('#resolve button'))
  await page.locator('#state .badge[data-state=RESOLVED]').waitFor()
  await page.evaluate(() => scrollTo(0, 0))
  await show('Resolved. The whole record stays in your repository.', 3500)
}

/** @type {(page: Page, stage: Page) => any} */
function createCamera(page, stage) {
  /** @type {Frame[]} */
  const frames = []
  const pointer = { x: 640, y: 430 }
  let chapter = 0
  let caption = ''
  let picture = ''

  /** @type {(ms: number, isClick?: boolean) => Promise<void>} */
  async function shoot(ms, isClick = false) {
    await stage.evaluate(
      async ({ picture, chapter, caption, pointer, isClick, top }) => {
        const one = (/** @type {string} */ name) =>
          /** @type {any} */ (document.querySelector(name))
        one('#chapter').textContent = chapter
        one('#words').textContent = caption
        const image = one('img')
        if (image.src !== picture) image.src = picture
        await image.decode()
        one('#pointer').style.cssText = `left:${pointer.x - 2}px;top:${pointer.y + top - 2}px`
        one('#click').style.cssText =
          `left:${pointer.x}px;top:${pointer.y + top}px;display:${isClick ? 'block' : 'none'}`
      },
      { picture, chapter, caption, pointer, isClick, top: CAPTION_HEIGHT },
    )
    const { data } = pngjs.PNG.sync.read(await stage.screenshot())
    const last = frames.at(-1)
    // what takes long on a busy machine is shortened
    if (last && data.equals(last.pixels))
      last.ms = Math.max(last.ms, Math.min(last.ms + ms, LONGEST_STILL_MS))
    else frames.push({ pixels: data, ms })
  }

  async function look() {
    const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' })
    picture = `data:image/png;base64,${shot.toString('base64')}`
  }

  /** @type {(text: string | null, ms: number) => Promise<void>} */
  async function show(text, ms) {
    if (text !== null) {
      caption = text
      chapter++
    }
    await look()
    await shoot(ms)
  }

  return {
    frames,
    show,
    /** Moves the pointer to it, and clicks. @type {(target: Locator, text?: string) => Promise<void>} */
    async click(target, text) {
      await target.waitFor()
      await target.evaluate((element) => {
        const { x, y, width, height } = element.getBoundingClientRect()
        const hit = document.elementFromPoint(x + width / 2, y + height / 2)
        if (!hit || !element.contains(hit)) element.scrollIntoView({ block: 'center' })
      })
      if (text !== undefined) await show(text, 500)
      const box = await target.boundingBox()
      if (!box) throw new Error(`${target} is not on the page`)
      const from = { ...pointer }
      const to = { x: box.x + Math.min(box.width / 2, 60), y: box.y + box.height / 2 }
      await page.mouse.move(to.x, to.y)
      await look()
      for (const part of [0.35, 0.75, 1]) {
        pointer.x = from.x + (to.x - from.x) * part
        pointer.y = from.y + (to.y - from.y) * part
        await shoot(part === 1 ? 170 : 80)
      }
      await shoot(280, true)
      await target.click()
      await delay(500)
    },
    /** @type {(text: string) => Promise<void>} */
    async type(text) {
      for (const part of text.match(/.{1,12}/g) ?? []) {
        await page.keyboard.type(part)
        await show(null, 220)
      }
    },
  }
}

/** Encodes with one palette. Pixels that stay as they were are transparent, which keeps it small. @param {Frame[]} frames */
function encode(frames) {
  const sample = frames.filter((_, index) => index % 4 === 0 || index === frames.length - 1)
  const all = Buffer.concat(sample.map(({ pixels }) => pixels))
  const palette = quantize(all, 255)
  const transparentIndex = palette.length
  palette.push([0, 0, 0])
  const gif = GIFEncoder()
  /** @type {Uint8Array | null} */
  let before = null
  for (const { pixels, ms } of frames) {
    const indexes = applyPalette(pixels, palette.slice(0, transparentIndex))
    const changed = new Uint8Array(indexes)
    if (before) {
      for (let i = 0; i < changed.length; i++) {
        if (indexes[i] === before[i]) changed[i] = transparentIndex
      }
    }
    gif.writeFrame(changed, SIZE.width, HEIGHT, {
      ...(before ? { transparent: true, transparentIndex, dispose: 1 } : { palette, dispose: 1 }),
      delay: ms,
    })
    before = indexes
  }
  gif.finish()
  return gif.bytes()
}

/**
 * The licences of packages whose code is in the bundle: most ask that whoever gets the code gets the licence
 * with it, and a bundled package is not installed beside it.
 */
import { readdir, readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

const LICENCE_FILE = /^(licen[cs]e|copying|notice)([.-].*)?$/i
const RULE = '-'.repeat(80)

/** The text of a file that names each package in any of esbuild's `metafiles`, with its licence. */
export async function notices(root, metafiles) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs))
  const folders = new Set(inputs.map(packageFolder).filter((folder) => folder !== null))
  const each = await Promise.all([...folders].map((folder) => noticeOf(resolve(root, folder))))
  return `The program has code of the packages below, under their own licences.\n\n${each.sort().join('\n')}`
}

/** `node_modules/NAME`, however deep. */
function packageFolder(input) {
  return /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? null
}

async function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(
    await readFile(resolve(folder, 'package.json'), 'utf8'),
  )
  const files = (await readdir(folder)).filter((file) => LICENCE_FILE.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(resolve(folder, file), 'utf8')))
  const by = typeof author === 'string' ? author : author?.name
  const said = texts.length > 0 ? texts : [`(It brings no text of it.${by ? ` By ${by}.` : ''})\n`]
  return [RULE, `${name} ${version}`, `Licence: ${license}`, '', said.join('\n').trim(), ''].join(
    '\n',
  )
}

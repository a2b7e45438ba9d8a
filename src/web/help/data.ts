import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, posix } from 'node:path'
import { packageFile } from '../../package-files.ts'
import { slugOf } from '../../rendering/markdown/links.ts'
import { HELP, HELP_PICTURES, helpPage } from '../shell/addresses.ts'

/** A page of the package's documentation. */
export interface HelpPage {
  /** In addresses, such as `problems`. */
  name: string
  /** In the package, such as `docs/problems.md`. */
  path: string
  title: string
}

interface HelpGroup {
  title: string
  pages: HelpPage[]
}

export interface Question {
  text: string
  href: string
  /** The section that it is in. */
  about: string
}

export interface Help {
  pages: ReadonlyMap<string, HelpPage>
  /** The pages under the headings of docs/README.md, in its order. */
  groups: HelpGroup[]
  /** What docs/problems.md answers. */
  questions: Question[]
  /** The paths of the pictures, by name. */
  pictures: ReadonlyMap<string, string>
}

const INDEX = 'docs/README.md'

/** Only what is listed here has an address. Empty if the package was copied without its docs. */
export function readHelp(): Help {
  const paths = ['README.md', 'CONTRIBUTING.md', ...listFolder('docs', /^[a-z][a-z-]*\.md$/)]
  const pages = new Map(
    paths.filter(isThere).map((path) => {
      const name = posix.basename(path, '.md').toLowerCase()
      return [name, { name, path, title: titleOf(readText(path), name) }]
    }),
  )
  const pictures = new Map(
    listFolder('docs/images', /\.(?:png|svg)$/).map((path) => [posix.basename(path), path]),
  )
  const problems = pages.get('problems')
  return {
    pages,
    pictures,
    groups: isThere(INDEX) ? groupsOf(readText(INDEX), pages) : [],
    questions: problems ? questionsOf(readText(problems.path), problems.name) : [],
  }
}

/** Its headings, without those of problem codes. */
function questionsOf(text: string, name: string): Question[] {
  let about = ''
  return [...text.matchAll(/^(##+) +(.+?) *$/gm)].flatMap(([, marks, heading = '']) => {
    if (marks === '##') about = heading
    if (marks === '##' || heading.startsWith('`')) return []
    return [{ text: heading, href: helpPage(name, slugOf(heading)), about }]
  })
}

export function readText(path: string): string {
  return readFileSync(packageFile(path), 'utf8')
}

export function readPicture(path: string): Uint8Array {
  return readFileSync(packageFile(path))
}

function listFolder(folder: string, name: RegExp): string[] {
  try {
    return readdirSync(packageFile(`${folder}/`))
      .filter((each) => name.test(each))
      .map((each) => `${folder}/${each}`)
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function isThere(path: string): boolean {
  return existsSync(packageFile(path))
}

function titleOf(text: string, name: string): string {
  return /^# +(.+?) *$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name
}

const LINK = /\]\(([\w./-]+\.md)(?:#[^)]*)?\)/g

/** A page is in the group where the index links to it first. */
function groupsOf(index: string, pages: ReadonlyMap<string, HelpPage>): HelpGroup[] {
  const left = new Map([...pages.values()].map((page) => [page.path, page]))
  const groups: HelpGroup[] = []
  for (const part of index.split(/^(?=## )/m)) {
    const title = /^## +(.+)/.exec(part)?.[1] ?? 'Start here'
    const found: HelpPage[] = []
    for (const [, file] of part.matchAll(LINK)) {
      const path = posix.join(posix.dirname(INDEX), file ?? '')
      const page = left.get(path)
      if (page) found.push(page)
      left.delete(path)
    }
    if (found.length > 0) groups.push({ title, pages: found })
  }
  return groups
}

/**
 * The addresses in the console of what a page links to and shows, by the relative paths that it uses.
 */
export function addressesFrom(
  { path }: HelpPage,
  { pages, pictures }: Help,
): Record<string, string> {
  const folder = posix.dirname(path)
  const known: [path: string, address: string][] = [
    [INDEX, HELP],
    ...[...pages.values()].map((page): [string, string] => [page.path, helpPage(page.name)]),
    ...[...pictures].map(([name, each]): [string, string] => [each, pictureAddress(name)]),
  ]
  return Object.fromEntries(
    known.map(([target, address]) => [posix.relative(folder, target), address]),
  )
}

function pictureAddress(name: string): string {
  return `${HELP_PICTURES}/${name}`
}

export function pictureType(path: string): string {
  return extname(path) === '.svg' ? 'image/svg+xml' : 'image/png'
}

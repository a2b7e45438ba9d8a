/** Languages by the name that the highlighter has for each, with the other names of fences and the endings of files. */
const NAMES: Record<string, string> = {
  bash: 'sh zsh ksh dash ash bats',
  shell: 'console shellsession terminal',
  javascript: 'js mjs cjs jsx node',
  typescript: 'ts mts cts tsx',
  json: 'jsonc json5 jsonl ndjson webmanifest',
  yaml: 'yml',
  python: 'py pyi py3 python3',
  go: 'golang',
  rust: 'rs',
  diff: 'patch',
  css: '',
  scss: 'sass',
  less: '',
  xml: 'html htm xhtml svg vue svelte rss plist xsd xsl',
  sql: 'psql mysql sqlite pgsql',
  java: '',
  kotlin: 'kt kts',
  c: 'h',
  cpp: 'cc cxx hpp hh hxx c++ ino',
  csharp: 'cs c#',
  ruby: 'rb gemspec rake',
  php: '',
  swift: '',
  lua: '',
  perl: 'pl pm',
  ini: 'toml cfg conf editorconfig',
  dockerfile: 'docker containerfile',
  makefile: 'make mk',
  markdown: 'md mdx mkd',
  graphql: 'gql',
  powershell: 'ps1 psm1 pwsh',
  elixir: 'ex exs',
  protobuf: 'proto',
  dart: '',
  scala: 'sc sbt',
}

export type Language = string
export const LANGUAGES = Object.keys(NAMES)

const BY_NAME = new Map<string, Language>()
for (const [language, others] of Object.entries(NAMES)) {
  for (const name of [language, ...others.split(' ')]) if (name) BY_NAME.set(name, language)
}

/** Files whose name tells the language without an ending. */
const BY_FILE = new Map<string, Language>(
  Object.entries({
    dockerfile: 'dockerfile',
    containerfile: 'dockerfile',
    makefile: 'makefile',
    gemfile: 'ruby',
    rakefile: 'ruby',
    'go.mod': 'go',
    '.bashrc': 'bash',
    '.profile': 'bash',
    '.zshrc': 'bash',
    '.npmrc': 'ini',
    '.gitconfig': 'ini',
    '.editorconfig': 'ini',
  }),
)

/** Pure. The language of a fence, such as `ts`; null if it is not highlighted. */
export function languageOfFence(name: string): Language | null {
  return BY_NAME.get(name.toLowerCase()) ?? null
}

/** Pure. The language of a file by its name; null if it is not highlighted. */
export function languageOfFile(path: string): Language | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const known = BY_FILE.get(name)
  if (known) return known
  const dot = name.lastIndexOf('.')
  return dot < 0 ? null : (BY_NAME.get(name.slice(dot + 1)) ?? null)
}

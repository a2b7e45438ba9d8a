import Anser from 'anser'

/** An index into the 256-colour palette, or `'255, 0, 0'`. */
export type AnsiColor = number | string

/** The style of text. Two styles that look the same have the same `key`. */
export interface AnsiStyle {
  foreground: AnsiColor | null
  background: AnsiColor | null
  /** In a fixed order. */
  marks: readonly AnsiMark[]
  /** The parameters that select all of this from scratch, as in `0;1;31`. */
  key: string
}

export type AnsiMark = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'strike'

export const PLAIN: AnsiStyle = { foreground: null, background: null, marks: [], key: '0' }

/** The names that anser gives to styles, and their codes. Hidden and blinking text is shown like any other. */
const MARKS: readonly { mark: AnsiMark; name: string; code: number }[] = [
  { mark: 'bold', name: 'bold', code: 1 },
  { mark: 'dim', name: 'dim', code: 2 },
  { mark: 'italic', name: 'italic', code: 3 },
  { mark: 'underline', name: 'underline', code: 4 },
  { mark: 'inverse', name: 'reverse', code: 7 },
  { mark: 'strike', name: 'strikethrough', code: 9 },
]
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

const MAX_KNOWN = 2000
/** A cache: programs switch often between few styles. */
const known = new Map<string, AnsiStyle>()

/** Pure. The style after `ESC [ <parameters> m`. */
export function nextStyle(style: AnsiStyle, parameters: string): AnsiStyle {
  const change = `${style.key} ${parameters}`
  const found = known.get(change)
  if (found) return found
  const next = changed(style, parameters)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(change, next)
  return next
}

function changed(style: AnsiStyle, parameters: string): AnsiStyle {
  const codes = withSemicolons(parameters)
  if (!/^[\d;]*$/.test(codes)) return style
  const entry = new Anser().processChunkJson(`${style.key};${codes}m`, { use_classes: true }, true)
  const foreground = colorOf(entry.fg, entry.fg_truecolor)
  const background = colorOf(entry.bg, entry.bg_truecolor)
  const decorations = new Set<string>(entry.decorations)
  const marks = MARKS.filter(({ name }) => decorations.has(name))
  const key = [
    0,
    ...marks.map(({ code }) => code),
    ...(foreground === null ? [] : [codeOf(foreground, 30)]),
    ...(background === null ? [] : [codeOf(background, 40)]),
  ].join(';')
  return { foreground, background, marks: marks.map(({ mark }) => mark), key }
}

/** `38:2::1:2:3` and `38:5:1` mean the same as with semicolons. `4:0` is no underline, `4:3` a wavy one. */
function withSemicolons(parameters: string): string {
  return parameters
    .split(';')
    .map((code) =>
      code
        .replace(/^4:0$/, '24')
        .replace(/^4:[1-9]$/, '4')
        .replace(/^([34]8):2:\d*:(\d+):(\d+):(\d+)(?::.*)?$/, '$1;2;$2;$3;$4')
        .replace(/^([34]8):2:(\d+):(\d+):(\d+)$/, '$1;2;$2;$3;$4')
        .replace(/^([34]8):5:(\d+)$/, '$1;5;$2'),
    )
    .join(';')
}

function colorOf(name: string | null, trueColor: string | null): AnsiColor | null {
  if (name === null) return null
  if (name === 'ansi-truecolor') return trueColor
  const palette = /^ansi-palette-(\d+)$/.exec(name)?.[1]
  if (palette !== undefined) return Number(palette)
  const [, bright, base] = /^ansi-(bright-)?(\w+)$/.exec(name)!
  return NAMES.indexOf(base!) + (bright ? 8 : 0)
}

function codeOf(color: AnsiColor, base: 30 | 40): string {
  if (typeof color === 'string') return `${base + 8};2;${color.replace(/, */g, ';')}`
  if (color >= 16) return `${base + 8};5;${color}`
  return String(color < 8 ? base + color : base + 60 + color - 8)
}

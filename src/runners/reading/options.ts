import type { ShellWord } from '../simple-commands.ts'

export type Arguments = readonly ShellWord[]

/**
 * Whether one of these options may be among the arguments: a letter also among others (`-ro`), a long one also shortened
 * (`--outp`) and with a value.
 */
export function mayHave(args: Arguments, options: string): boolean {
  const names = options.split(' ')
  const letters = names.flatMap((name) => (/^-[^-]$/.test(name) ? [name.slice(1)] : []))
  return args.some(({ text, mayBeOption }) => {
    if (mayBeOption) return true
    const [name = ''] = text.split('=')
    if (/^-[^-]/.test(text)) {
      return names.includes(name) || letters.some((letter) => text.includes(letter))
    }
    return /^--./.test(text) && names.some((each) => each.startsWith(name))
  })
}

/**
 * The operands, if every option is one of these; else null. `--sort=` takes a value, in the same word or the next. No
 * option may be shortened, and `--` counts as unknown.
 */
export function operandsWith(args: Arguments, options: string): ShellWord[] | null {
  const known = new Set(options.split(' '))
  const operands: ShellWord[] = []
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!
    const { text } = word
    if (word.mayBeOption) return null
    if (!/^-./.test(text)) operands.push(word)
    else if (known.has(`${text}=`)) {
      at += 1
      // what is an option in its own right may be meant as one, or be the value
      const value = args[at]
      if (!value || value.mayBeOption || isKnown(known, value.text)) return null
    } else if (!isKnown(known, text)) return null
  }
  return operands
}

function isKnown(known: ReadonlySet<string>, text: string): boolean {
  if (!/^-./.test(text)) return false
  if (known.has(text)) return true
  const [name = ''] = text.split('=')
  if (text.startsWith('--')) return text !== name && (known.has(name) || known.has(`${name}=`))
  const letters = [...text.slice(1)]
  return known.has(`-${letters[0]}=`) || letters.every((letter) => known.has(`-${letter}`))
}

/** Whether the arguments are these options, and at most so many operands that are exactly known. */
export function isOnly(args: Arguments, options: string, most = 0): boolean {
  const operands = operandsWith(args, options)
  return (
    operands !== null && operands.length <= most && operands.every(({ isExpanded }) => !isExpanded)
  )
}

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  closeToPrograms,
  servicePath,
  serviceProgram,
  startNothingFrom,
} from '../../src/files/service-program.ts'
import { findProgram } from '../../src/runners/process/find-program.ts'
import { newFolder } from '../fixtures/git-repository.ts'

t.test('the service starts no program that a run could have put there', async (t) => {
  const root = newFolder(t)
  const at = (name: string) => {
    const folder = join(root, name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'tool'), '#!/bin/sh\n')
    chmodSync(join(folder, 'tool'), 0o755)
    return folder
  }
  const bin = at('w/node_modules/.bin')
  const [temporary, own] = [at('tmp'), at('own')]
  symlinkSync(bin, join(root, 'link'))
  mkdirSync(join(root, 'files'))
  symlinkSync(join(bin, 'tool'), join(root, 'files/tool'))
  const written = [bin, 'relative', '', join(root, 'link'), join(root, 'files'), temporary]
  const path = [...written, own].join(':')
  t.equal(serviceProgram('tool', path), join(bin, 'tool'))

  startNothingFrom({ places: [join(root, 'w')], temporary: [temporary] })
  t.equal(serviceProgram('tool', path), join(own, 'tool'))
  t.equal(servicePath(path), [join(root, 'files'), own].join(':'))
  t.equal(await findProgram('tool', { path: `${bin}:${own}`, cwd: root }), join(own, 'tool'))
  t.equal(
    await findProgram('tool', { path: temporary, cwd: root }),
    join(temporary, 'tool'),
    'an agent in a temporary folder that the operator put on the PATH',
  )

  closeToPrograms([own])
  t.throws(() => serviceProgram('tool', path), {
    code: 'ENOENT',
    message: /^tool was found only in .*\/tool, where a run could have put it/,
  })
  t.throws(() => serviceProgram('no-such-tool', path), { message: /was not found on the PATH/ })
})

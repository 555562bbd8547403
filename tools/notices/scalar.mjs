// Writes scalar.json: the npm packages in internal/api/reference/scalar.js.gz, with their licences.
// The source map of the published script names the packages. Run it in a folder where
// `npm install --ignore-scripts @scalar/api-reference@VERSION` was run. Install a package that is
// missing there too, because later versions of its neighbours no longer need it.
//
//	node PATH/tools/notices/scalar.mjs >PATH/tools/notices/scalar.json
import { existsSync, readFileSync, readdirSync } from 'node:fs'

const top = 'node_modules'
const { sources } = JSON.parse(readFileSync(`${top}/@scalar/api-reference/dist/browser/standalone.js.map`, 'utf8'))
const names = new Set(['@scalar/api-reference'])
for (const source of sources) {
  const other = source.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)\//)
  const own = source.match(/^\.\.\/\.\.\/\.\.\/([a-z-]+)\/dist\//)
  if (other) names.add(other[1])
  else if (own) names.add('@scalar/' + own[1])
}

// folders returns the folders in which a package may be installed.
const folders = (name) => [`${top}/${name}`, ...readdirSync(top).map((other) => `${top}/${other}/${top}/${name}`)]

const found = [...names].sort().map((name) => {
  const folder = folders(name).find((f) => existsSync(`${f}/package.json`))
  if (!folder) throw new Error(`${name} is not installed`)
  const pkg = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const texts = readdirSync(folder).filter((f) => /^(licen[cs]e|copying|notice)/i.test(f)).sort()
  return {
    name, license: pkg.license, author: pkg.author?.name ?? pkg.author ?? '',
    texts: texts.map((f) => readFileSync(`${folder}/${f}`, 'utf8').replaceAll('\r\n', '\n').trim()),
  }
})
console.log(JSON.stringify(found, null, 1))

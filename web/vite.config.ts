import vue from '@vitejs/plugin-vue'
import { fileURLToPath } from 'node:url'
import Components from 'unplugin-vue-components/vite'
import { ElementPlusResolver } from 'unplugin-vue-components/resolvers'
import { defineConfig } from 'vitest/config'

/** The running server that `npm run dev` talks to. */
const server = process.env['NETACLAW_URL'] ?? 'http://127.0.0.1:7300'

interface Modules {
  getModuleInfo(id: string): { isEntry: boolean; importers: readonly string[] } | null
}

/** Modules that the first page is known to need. */
const first = new Set<string>()

/** Whether the first page needs a module: it is imported from there on the straight way, and not on demand. */
function isFirst(id: string, modules: Modules): boolean {
  const seen = new Set([id])
  for (const at of seen) {
    const info = modules.getModuleInfo(at)
    if (first.has(at) || info?.isEntry) return !!first.add(id)
    info?.importers.forEach((importer) => seen.add(importer))
  }
  return false
}

/** Requests reach the server as if its own page had made them: it checks where they come from. */
const proxied = { target: server, changeOrigin: true, headers: { origin: server } }

export default defineConfig({
  plugins: [
    vue(),
    // Element Plus by need, and nothing else: our own components are imported by name.
    Components({ dirs: [], dts: 'src/components.d.ts', resolvers: [ElementPlusResolver()] }),
  ],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  define: { __VUE_OPTIONS_API__: 'false', __INTLIFY_PROD_DEVTOOLS__: 'false' },
  server: {
    port: 7301,
    proxy: {
      // The link that the server prints, which logs the browser in.
      '^/\\?token=': proxied,
      '^/link$': proxied,
      '/admin': proxied,
      '/v1': proxied,
      '/socket.io': { ...proxied, ws: true },
    },
  },
  build: {
    // The strict policy of the server forbids scripts in the page, and so also data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // All that the first page needs is one file, and not one for each combination of pages that share something.
        codeSplitting: { groups: [{ name: (id, modules) => (isFirst(id, modules) ? 'app' : null) }] },
      },
    },
  },
  test: {
    environment: 'happy-dom',
    server: { deps: { inline: ['element-plus'] } },
    include: ['src/**/*.test.ts'],
  },
})

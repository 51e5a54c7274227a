import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import { defineConfig, globalIgnores } from 'eslint/config'
import vue from 'eslint-plugin-vue'
import globals from 'globals'
import ts from 'typescript-eslint'

const UNUSED = { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }

export default defineConfig([
  globalIgnores([
    '**/node_modules',
    '**/dist',
    '**/test-results',
    'web/src/protocol/types.ts',
    'web/src/components.d.ts',
  ]),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },

  js.configs.recommended,
  {
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-unused-vars': ['error', UNUSED],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  { files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
  { files: ['web/tools/*.mjs'], languageOptions: { globals: globals.browser } }, // Functions that run in the page.

  {
    files: ['**/*.{ts,vue}'],
    extends: [ts.configs.strict],
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
        extraFileExtensions: ['.vue'],
      },
    },
    rules: {
      'no-undef': 'off', // TypeScript does this, and knows the DOM.
      '@typescript-eslint/no-unused-vars': ['error', UNUSED],
      '@typescript-eslint/consistent-type-imports': 'error',
      // With `noUncheckedIndexedAccess` an index that was checked needs one.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      '@typescript-eslint/no-invalid-void-type': 'off',

      // Rules that need types. A `.vue` import has no type here, so the `no-unsafe-*` family would only report those;
      // `vue-tsc` checks them.
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-for-in-array': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-implied-eval': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/no-base-to-string': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },

  {
    files: ['**/*.vue'],
    extends: [vue.configs['flat/recommended']],
    languageOptions: { parserOptions: { parser: ts.parser } },
    rules: {
      'vue/eqeqeq': ['error', 'always', { null: 'ignore' }],
      'vue/no-unused-emit-declarations': 'error',
      'vue/no-unused-properties': 'error',
      'vue/no-unused-refs': 'error',
      'vue/no-useless-mustaches': 'error',
      'vue/no-useless-v-bind': 'error',
      'vue/require-default-prop': 'off', // An optional prop is `undefined`, and its type says so.
    },
  },

  // What it shows is sanitised by `inlineHtml`.
  { files: ['web/src/ui/markdown/MarkdownInline.vue'], rules: { 'vue/no-v-html': 'off' } },
  { files: ['web/src/**'], rules: { 'no-console': 'error' } },

  // Prettier decides how code looks.
  prettier,
])

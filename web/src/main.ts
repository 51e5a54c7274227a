import '@/styles/index.css'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import App from './App.vue'
import { i18n, setLanguage } from './i18n'
import { router } from './router'
import { usePrefs } from './stores'

const app = createApp(App).use(createPinia()).use(i18n)
await setLanguage(usePrefs().language)
app.use(router).mount('#app')

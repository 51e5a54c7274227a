import { createPinia } from 'pinia'
import { createApp } from 'vue'
import App from './App.vue'
import { i18n, preferredLanguage, setLanguage } from './i18n'
import { router } from './router'

await setLanguage(preferredLanguage(navigator.languages))
createApp(App).use(createPinia()).use(i18n).use(router).mount('#app')

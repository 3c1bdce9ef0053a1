{{- define "tallyport.image" -}}
{{ required "Set image.repository: the image built from the Dockerfile." .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "tallyport.labels" -}}
app.kubernetes.io/name: tallyport
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The labels by which a process's pods are found. Takes (dict "root" $ "process" "web"). */}}
{{- define "tallyport.selector" -}}
app.kubernetes.io/name: tallyport
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end }}

{{/* The settings of a process and its secrets. Takes (dict "root" $ "process" "web"). */}}
{{- define "tallyport.env" -}}
{{- $values := .root.Values }}
- { name: PUBLIC_URL, value: {{ required "Set publicUrl, such as https://vote.example.org." $values.publicUrl | quote }} }
- { name: TRUST_PROXY, value: {{ required "Set trustProxy: 1 behind one ingress controller. With a wrong value all clients share one address, or each can choose its own." ($values.trustProxy | toString) | quote }} }
- { name: METRICS_HOST, value: 0.0.0.0 }
- { name: METRICS_PORT, value: '9464' }
- { name: SHUTDOWN_DELAY_MS, value: {{ mul $values.web.shutdownDelaySeconds 1000 | quote }} }
{{- $needed := list "SECRET_KEY" "MONGODB_URI" "REDIS_URL" }}
{{- $more := dict
  "web" (list "SECRET_KEY_PREVIOUS" "SMTP_URL" "DISCORD_CLIENT_SECRET" "OIDC_CLIENT_SECRET" "OTEL_EXPORTER_OTLP_HEADERS")
  "worker" (list "SECRET_KEY_PREVIOUS" "SMTP_URL" "OTEL_EXPORTER_OTLP_HEADERS")
  "scheduler" (list "OTEL_EXPORTER_OTLP_HEADERS")
  "migrate" list }}
{{- $optional := index $more .process }}
{{- $own := concat $needed $optional }}
{{- range $name, $value := $values.settings }}
{{- $isFile := hasSuffix "_FILE" $name }}
{{- $isForThisProcess := has (trimSuffix "_FILE" $name) $own }}
{{- /* They belong together with secrets that only web has. */}}
{{- $isOfSignIn := regexMatch "^(DISCORD_CLIENT_|OIDC_|STEAM_)" $name }}
{{- if ternary $isForThisProcess (or (eq $.process "web") (not $isOfSignIn)) $isFile }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
{{- $secret := .process | replace "migrate" "migration" }}
{{- $secretName := index $values.secrets $secret }}
{{- range $own }}
{{- $isOptional := has . $optional }}
{{- /* A secret that is in a file is not taken from the Secret: both would be an error. */}}
{{- if not (or (index $values.settings (printf "%s_FILE" .)) (and $isOptional (not $secretName))) }}
{{- $from := required (printf "Set secrets.%s: a Secret with SECRET_KEY, MONGODB_URI and REDIS_URL." $secret) $secretName }}
- { name: {{ . }}, valueFrom: { secretKeyRef: { name: {{ $from }}, key: {{ . }}{{ if $isOptional }}, optional: true{{ end }} } } }
{{- end }}
{{- end }}
{{- end }}

{{/* The pod of a process. Takes (dict "root" $ "process" "web" "command" (list …) "port" 3000 "config" .Values.web "grace" 30). */}}
{{- define "tallyport.pod" -}}
metadata:
  labels:
    {{- include "tallyport.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .process }}
  {{- with .config.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .grace }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: {{ .process }}
      image: {{ include "tallyport.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      command: {{ toJson .command }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        {{- include "tallyport.env" . | trim | nindent 8 }}
      {{- if .port }}
      ports:
        {{- if eq .process "web" }}
        - { name: http, containerPort: 3000 }
        {{- end }}
        - { name: metrics, containerPort: 9464 }
      # MongoDB may be away at the start: a process waits a minute for it.
      startupProbe:
        httpGet: { path: /healthz, port: {{ .port }} }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: {{ .port }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # A web pod leaves the Service after 30 s of failures or without an answer. MongoDB has usually failed over by then, and
      # the pod's own 503 (JSON, with Retry-After) is better than that of an ingress without any pod. A terminating pod leaves
      # at once anyway.
      readinessProbe:
        httpGet: { path: /readyz, port: {{ .port }} }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ eq .process "web" | ternary 15 2 }}
      {{- end }}
      resources:
        {{- toYaml .config.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- with concat .root.Values.extraVolumeMounts (.config.extraVolumeMounts | default list) }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: {{ .root.Values.tmpSize }} } }
    {{- with concat .root.Values.extraVolumes (.config.extraVolumes | default list) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .config.affinity | default .root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .config.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- /* Without a selector a constraint counts no pod, and one selector for all processes would count foreign ones. */}}
    {{- $labels := include "tallyport.selector" $ | fromYaml }}
    {{- range . }}
    - {{- toYaml (merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" $labels))) | nindent 6 }}
    {{- end }}
  {{- end }}
{{- end }}

{{- define "tallyport.public" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: {{ toJson .Values.networkPolicy.privateRanges }}
- ipBlock:
    cidr: ::/0
    except: [fc00::/7, fe80::/10]
{{- end }}

{{/*
Where a process may connect to. Takes (dict "root" $ "services" (list "mongodb") "public" "none"): `public` is "any" port of
any public address, "https" (port 443 of them), or "none".
*/}}
{{- define "tallyport.egress" -}}
{{- $root := .root }}
{{- $public := .public }}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- if eq $public "any" }}
# Game servers, vote listeners and Discord.
- to:
    {{- include "tallyport.public" $root | nindent 4 }}
{{- with compact (regexSplit "[, ]+" ($root.Values.settings.ALLOWED_PRIVATE_RANGES | default "" | trim) -1) }}
# The private ranges that ALLOWED_PRIVATE_RANGES opens.
- to:
    {{- range . }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
{{- end }}
{{- end }}
{{- if eq $public "https" }}
# The sites at which users sign in.
- ports:
    - { protocol: TCP, port: 443 }
  to:
    {{- include "tallyport.public" $root | nindent 4 }}
{{- end }}
{{- range .services }}
{{- $service := index $root.Values.networkPolicy . }}
{{- if or $service.to (ne $public "any") }}
# {{ . }}
- ports:
    {{- range $service.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  to:
    {{- if $service.to }}
    {{- toYaml $service.to | nindent 4 }}
    {{- else }}
    {{- include "tallyport.public" $root | nindent 4 }}
    {{- end }}
{{- end }}
{{- end }}
{{- if .others }}
{{- with $root.Values.networkPolicy.services }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}
